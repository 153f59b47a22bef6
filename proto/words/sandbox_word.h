#ifndef MSD_PROTO_SANDBOX_WORD_H
#define MSD_PROTO_SANDBOX_WORD_H
/* User-specified sandbox profile of a module: docs/explanation/sandbox.md. */
#include <stdbool.h>

#include "proto/base/bytes.h"

enum msd_sandbox_word {
	MSD_SANDBOX_UNSAID,
	MSD_SANDBOX_AUTO,   /* "auto": the needs of its device */
	MSD_SANDBOX_CPU,    /* "cpu" */
	MSD_SANDBOX_OPENCL, /* "opencl" */
	MSD_SANDBOX_CUDA,   /* "cuda" */
	MSD_SANDBOX_TRUSTED /* "trusted": all rights of the daemon */
};

#define MSD_SANDBOX_WORDS "auto, cpu, opencl, cuda or trusted"

/** Parse a profile name; false if @word is unknown. */
MSD_MUST_CHECK bool msd_sandbox_word_parse(struct msd_span word,
					   enum msd_sandbox_word *ret);
/** The name; NULL for MSD_SANDBOX_UNSAID. */
const char *msd_sandbox_word_name(enum msd_sandbox_word word);

#endif
