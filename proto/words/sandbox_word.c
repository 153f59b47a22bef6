#include "proto/words/sandbox_word.h"

static const char *const names[] = {[MSD_SANDBOX_AUTO] = "auto",
				    [MSD_SANDBOX_CPU] = "cpu",
				    [MSD_SANDBOX_OPENCL] = "opencl",
				    [MSD_SANDBOX_CUDA] = "cuda",
				    [MSD_SANDBOX_TRUSTED] = "trusted"};

bool msd_sandbox_word_parse(struct msd_span word, enum msd_sandbox_word *ret)
{
	for (unsigned i = MSD_SANDBOX_AUTO; i <= MSD_SANDBOX_TRUSTED; i++) {
		if (msd_span_is(word, names[i])) {
			*ret = (enum msd_sandbox_word)i;
			return true;
		}
	}
	return false;
}

const char *msd_sandbox_word_name(enum msd_sandbox_word word)
{
	return names[word];
}
