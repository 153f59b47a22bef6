#ifndef MSD_CLI_SYSTEM_H
#define MSD_CLI_SYSTEM_H
/*
 * Which library of this machine has a symbol. Libraries are read as files, from the
 * directories where the loader looks without being told; none is opened as a library.
 */
#include "artifact/inspect/inspect.h"

struct msd_system {
	struct msd_system_library {
		char *name;
		char *path; /* of the file, without links */
		struct msd_buf file;
		struct msd_elf elf;
	} * libraries;
	size_t n;
};

/** Read what @i names as needed, and libc and libm, which are in every worker. What is
 * not found, or is for another machine, is left out. The caller finishes *@ret. */
MSD_MUST_CHECK msd_err msd_system_read(const struct msd_inspect *i,
				       struct msd_system *ret, struct msd_diag *d);
/** The library that defines @symbol, or NULL; @ctx is the struct msd_system. */
const char *msd_system_find(void *ctx, const char *symbol);
/** Where a needed library was found, borrowed; NULL: it was not. */
const char *msd_system_path(const struct msd_system *s, const char *library);
void msd_system_finish(struct msd_system *s); /* zeroed is fine */

#endif
