#ifndef MSD_RUNTIME_GLOBAL_GLOBAL_H
#define MSD_RUNTIME_GLOBAL_GLOBAL_H
/*
 * Packed functions that the runtime itself provides under TVM's names (vm.builtin.*,
 * __tvm_set_device, ...). artifact/provides/packed.h has a list of names for each
 * file with such functions; the file builds its table from its list.
 */
#include "artifact/provides/packed.h"
#include "runtime/value/value.h"

struct msd_global {
	const char *name; /* NULL terminates a table */
	msd_safe_call call;
};

/* The table of a list of packed.h. */
#define MSD_GLOBAL_ROW(name, function) {name, function},
#define MSD_GLOBAL_TABLE(list)                                                         \
	{                                                                              \
		list(MSD_GLOBAL_ROW)                                                   \
		{                                                                      \
			NULL, NULL                                                     \
		}                                                                      \
	}

/* msd_globals_sort in packed/sort.c, and so on. */
#define MSD_GLOBAL_DECLARE(table, list, users)                                         \
	extern const struct msd_global msd_globals_##table[];
MSD_PACKED_MAP(MSD_GLOBAL_DECLARE)

/** Make them visible in the registry (runtime/value/registry.h). */
void msd_globals_open(void);
/** The registered function, or that of the runtime, called @name, if clients may call
 * it; NULL: none. */
struct msd_function *msd_global_find_for_clients(const char *name);
/** Function of the registry by name, or NULL. Process lifetime. */
struct msd_function *msd_global_find(const char *name);

#endif
