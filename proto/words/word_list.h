#ifndef MSD_PROTO_WORD_LIST_H
#define MSD_PROTO_WORD_LIST_H
/* The words of an option that has a fixed set of values. Index 0 is an option that was
 * not given, which has no word. */
#include "proto/base/bytes.h"

struct msd_word_list {
	const char *const *words; /* words[0] is NULL */
	unsigned n;
	const char *expected; /* for error texts: "zero or seeded" */
};

/** The index of @word; false and *@ret unchanged if it is not in the list. */
MSD_MUST_CHECK bool msd_word_list_find(const struct msd_word_list *list,
				       struct msd_span word, unsigned *ret);

#endif
