#ifndef MSD_ARTIFACT_PROVIDES_PROVIDES_H
#define MSD_ARTIFACT_PROVIDES_PROVIDES_H
/*
 * What a worker of this build gives to the libraries that it loads, as lists of names.
 * The lists beside this file are those of which the runtime makes its tables, so that a
 * program that does not contain the runtime can tell, too.
 */
#include <stdbool.h>
#include <stddef.h>

enum msd_provided {
	MSD_PROVIDED_SYMBOLS, /* that libraries leave undefined: TVMBackend..., ... */
	MSD_PROVIDED_SLOTS,   /* pointer globals that are filled: __TVM... */
	MSD_PROVIDED_PACKED,  /* packed functions: vm.builtin..., tvm.contrib... */
	MSD_PROVIDED_KINDS,   /* module kinds that run */
};

/** The names, sorted, each once; static. Any thread. */
const char *const *msd_provides(enum msd_provided what, size_t *ret_n);
/** Whether @name is one of them. */
bool msd_provides_name(enum msd_provided what, const char *name);

#endif
