#ifndef MSD_CLI_SYSTEM_H
#define MSD_CLI_SYSTEM_H
/* Finds the library of this machine that defines a symbol. Libraries are read as
 * files from the loader's default directories; none is loaded. */
#include "artifact/inspect/inspect.h"

struct msd_system {
	struct msd_system_library {
		char *name;
		char *path; /* path of the file, without links */
		struct msd_buf file;
		struct msd_elf elf;
	} * libraries;
	size_t n;
};

/**
 * Read the needed libraries of @i, and libc and libm, which every worker has. Skips
 * libraries that are not found or are for another machine. The caller finishes *@ret.
 */
MSD_MUST_CHECK msd_err msd_system_read(const struct msd_inspect *i,
				       struct msd_system *ret, struct msd_diag *d);
/** The library that defines @symbol, or NULL; @ctx is the struct msd_system. */
const char *msd_system_find(void *ctx, const char *symbol);
/** Path of a needed library, borrowed; NULL: not found. */
const char *msd_system_path(const struct msd_system *s, const char *library);
void msd_system_finish(struct msd_system *s); /* zeroed is fine */

#endif
