#ifndef MSD_RUNTIME_ABI_CONTEXT_H
#define MSD_RUNTIME_ABI_CONTEXT_H
/*
 * What the context of a library points to: who opens a library gives it one, and what
 * its compiled code looks up is asked there. Several threads may ask at a time.
 */
#include "proto/bytes.h"

struct msd_abi_context {
	/** The function called @name; it lives as long as the library is mapped. NULL:
	 * there is none. */
	struct msd_function *(*find)(struct msd_abi_context *c, const char *name);
	/** Append why there may be none; nothing when that is not known. */
	void (*explain)(struct msd_abi_context *c, struct msd_buf *why);
};

#endif
