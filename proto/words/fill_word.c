#include "proto/words/fill_word.h"

static const char *const names[] = {
	[MSD_FILL_ZERO] = "zero", [MSD_FILL_SEEDED] = "seeded"};

bool msd_fill_word_parse(struct msd_span word, enum msd_fill_word *ret)
{
	for (unsigned i = MSD_FILL_ZERO; i <= MSD_FILL_SEEDED; i++) {
		if (msd_span_is(word, names[i])) {
			*ret = (enum msd_fill_word)i;
			return true;
		}
	}
	return false;
}

const char *msd_fill_word_name(enum msd_fill_word word)
{
	return names[word];
}
