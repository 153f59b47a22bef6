#ifndef MSD_RUNTIME_ABI_SYSLIB_H
#define MSD_RUNTIME_ABI_SYSLIB_H
/*
 * Symbols that a system library's constructors register while it is being opened. The
 * opener puts a table up for its thread; registrations outside of that go nowhere.
 */
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

/** Collect into @table (NULL: into nothing) what this thread registers from now on. */
void msd_syslib_collect(struct msd_syslib *table);
int msd_syslib_register(const char *name, void *address); /* always 0 */
void msd_syslib_finish(struct msd_syslib *table);

#endif
