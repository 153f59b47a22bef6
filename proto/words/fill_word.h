#ifndef MSD_PROTO_FILL_WORD_H
#define MSD_PROTO_FILL_WORD_H
/* User-specified replacement for weights that were removed from a model's file. */
#include "proto/words/word_list.h"

enum msd_fill_word {
	MSD_FILL_UNSAID, /* the model is refused */
	MSD_FILL_ZERO,   /* "zero" */
	MSD_FILL_SEEDED  /* "seeded": pseudo-random numbers, the same each time */
};

#define MSD_FILL_WORDS "zero or seeded"

extern const struct msd_word_list msd_fill_words;

/** The word; NULL for MSD_FILL_UNSAID. */
static inline const char *msd_fill_word_name(enum msd_fill_word word)
{
	return msd_fill_words.words[word];
}

#endif
