#ifndef MSD_ARTIFACT_PROVIDES_PROVIDES_H
#define MSD_ARTIFACT_PROVIDES_PROVIDES_H
/*
 * Names that a worker of this build provides to the libraries that it loads. The
 * runtime builds its tables from the same lists, so a program without the runtime can
 * use them, too.
 */
#include <stdbool.h>
#include <stddef.h>

#include "proto/base/err.h"

enum msd_provided {
	MSD_PROVIDED_SYMBOLS, /* that libraries leave undefined: TVMBackend..., ... */
	MSD_PROVIDED_SLOTS,   /* pointer globals that are filled: __TVM... */
	MSD_PROVIDED_PACKED,  /* packed functions: vm.builtin..., tvm.contrib... */
	MSD_PROVIDED_KINDS,   /* module kinds that run */
};

/** The names, sorted, each once; valid until the next is added. Any thread. */
const char *const *msd_provides(enum msd_provided what, size_t *ret_n);
/** True if @name is in that list. */
bool msd_provides_name(enum msd_provided what, const char *name);
/**
 * Add @name, which is copied, to a list: a plugin brings it. False: memory is short.
 * Not while another thread uses the lists.
 */
MSD_MUST_CHECK bool msd_provides_add(enum msd_provided what, const char *name);
/** True if a worker stands in for the needed library @name: libtvm_ffi.so. */
bool msd_provides_library(const char *name);

#endif
