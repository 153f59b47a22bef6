#ifndef MSD_PROTO_FILL_WORD_H
#define MSD_PROTO_FILL_WORD_H
/* User-specified replacement for weights that were removed from a model's file. */
#include <stdbool.h>

#include "proto/base/bytes.h"

enum msd_fill_word {
	MSD_FILL_UNSAID, /* the model is refused */
	MSD_FILL_ZERO,   /* "zero" */
	MSD_FILL_SEEDED  /* "seeded": pseudo-random numbers, the same each time */
};

#define MSD_FILL_WORDS "zero or seeded"

/** Parse "zero" or "seeded"; false for any other text. */
MSD_MUST_CHECK bool msd_fill_word_parse(struct msd_span word, enum msd_fill_word *ret);
/** The word; NULL for MSD_FILL_UNSAID. */
const char *msd_fill_word_name(enum msd_fill_word word);

#endif
