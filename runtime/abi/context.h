#ifndef MSD_RUNTIME_ABI_CONTEXT_H
#define MSD_RUNTIME_ABI_CONTEXT_H
/* The context of a library. The loader sets it, and the library's compiled code looks
 * functions up through it. Several threads may do so at the same time. */
#include "proto/base/bytes.h"

struct msd_abi_context {
	/**
	 * The function called @name, valid while the library is mapped. NULL if it
	 * does not exist.
	 */
	struct msd_function *(*find)(struct msd_abi_context *c, const char *name);
	/**
	 * Append the reason why the function may be missing; nothing if the reason is
	 * not known.
	 */
	void (*explain)(struct msd_abi_context *c, struct msd_buf *why);
};

#endif
