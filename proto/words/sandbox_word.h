#ifndef MSD_PROTO_SANDBOX_WORD_H
#define MSD_PROTO_SANDBOX_WORD_H
/* User-specified sandbox profile of a module: docs/explanation/sandbox.md. */
#include "proto/words/word_list.h"

enum msd_sandbox_word {
	MSD_SANDBOX_UNSAID,
	MSD_SANDBOX_AUTO,   /* "auto": the needs of its device */
	MSD_SANDBOX_CPU,    /* "cpu" */
	MSD_SANDBOX_OPENCL, /* "opencl" */
	MSD_SANDBOX_CUDA,   /* "cuda" */
	MSD_SANDBOX_TRUSTED /* "trusted": all rights of the daemon */
};

#define MSD_SANDBOX_WORDS "auto, cpu, opencl, cuda or trusted"

extern const struct msd_word_list msd_sandbox_words;

/** The word; NULL for MSD_SANDBOX_UNSAID. */
static inline const char *msd_sandbox_word_name(enum msd_sandbox_word word)
{
	return msd_sandbox_words.words[word];
}

#endif
