#include "proto/words/abi_word.h"

static const char *const names[] = {
	[MSD_ERA_SAID_CLASSIC] = "classic", [MSD_ERA_SAID_FFI] = "ffi"};

bool msd_abi_word_parse(struct msd_span word, enum msd_abi_word *ret)
{
	for (unsigned i = MSD_ERA_SAID_CLASSIC; i <= MSD_ERA_SAID_FFI; i++) {
		if (msd_span_is(word, names[i])) {
			*ret = (enum msd_abi_word)i;
			return true;
		}
	}
	return false;
}

const char *msd_abi_word_name(enum msd_abi_word word)
{
	return names[word];
}
