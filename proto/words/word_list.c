#include "proto/words/word_list.h"

bool msd_word_list_find(const struct msd_word_list *list, struct msd_span word,
			unsigned *ret)
{
	for (unsigned i = 1; i < list->n; i++) {
		if (msd_span_is(word, list->words[i])) {
			*ret = i;
			return true;
		}
	}
	return false;
}
