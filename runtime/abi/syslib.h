#ifndef MSD_RUNTIME_ABI_SYSLIB_H
#define MSD_RUNTIME_ABI_SYSLIB_H
/* Symbols that the constructors of a system library register while the loader opens
 * it. The loader sets a table for its thread; other registrations are ignored. */
#include <stddef.h>

struct msd_syslib_symbol {
	char *name; /* owned */
	void *address;
};
struct msd_syslib {
	struct msd_syslib_symbol *symbols;
	size_t n;
	int is_short_of_memory;
};

/**
 * Collect into @table the symbols that this thread registers from now on. NULL:
 * ignore them.
 */
void msd_syslib_collect(struct msd_syslib *table);
int msd_syslib_register(const char *name, void *address); /* always 0 */
void msd_syslib_finish(struct msd_syslib *table);

#endif
