#ifndef MSD_PROTO_SANDBOX_WORD_H
#define MSD_PROTO_SANDBOX_WORD_H
/* What people say a module may do beside computing: docs/sandbox.md. */
#include <stdbool.h>

#include "proto/bytes.h"

enum msd_sandbox_word {
	MSD_SANDBOX_UNSAID,
	MSD_SANDBOX_AUTO,   /* "auto": what the device that it runs on needs */
	MSD_SANDBOX_CPU,    /* "cpu" */
	MSD_SANDBOX_OPENCL, /* "opencl" */
	MSD_SANDBOX_CUDA,   /* "cuda" */
	MSD_SANDBOX_TRUSTED /* "trusted": all that the daemon may */
};

#define MSD_SANDBOX_WORDS "auto, cpu, opencl, cuda or trusted"

/** Parse one of the words; false when @word is none of them. */
MSD_MUST_CHECK bool msd_sandbox_word_parse(struct msd_span word,
					   enum msd_sandbox_word *ret);
/** The word; NULL for MSD_SANDBOX_UNSAID. */
const char *msd_sandbox_word_name(enum msd_sandbox_word word);

#endif
