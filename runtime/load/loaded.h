#ifndef MSD_RUNTIME_LOAD_LOADED_H
#define MSD_RUNTIME_LOAD_LOADED_H
/*
 * A loaded artifact: the restored import tree, ready to look functions up and call
 * them. Lookup is the module's own functions first, then its imports depth-first. A
 * module kind that cannot run here is a node whose lookup says so; it does not fail the
 * load.
 *
 * Threads: one thread at a time per artifact (compiled code may use the pool inside a
 * call).
 */
#include "proto/diag.h"
#include "runtime/module/module.h"
#include "runtime/value/value.h"

struct msd_dev;
struct msd_instance;
struct msd_loaded; /* opaque */

/**
 * Load a library from @fd (a sealed memfd or a file; not consumed, may be closed
 * after).
 * @file: the same bytes, mapped; must outlive the module. Runs the library's
 * constructors. Errors: MSD_BAD_ARTIFACT, MSD_UNSUPPORTED (other machine, missing
 * symbols: all named), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_loaded_open(int fd, struct msd_span file,
				       const struct msd_load_options *options,
				       struct msd_loaded **ret, struct msd_diag *d);
void msd_loaded_close(struct msd_loaded *m); /* NULL is fine; functions die with it */

/**
 * Ask the functions for their signatures, as probe_signatures does at open. It executes
 * argument checks of foreign code, which may crash or never return: a caller that
 * cannot afford that tries in a child process first. Before the first call only.
 * Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_loaded_probe(struct msd_loaded *m,
					const struct msd_probe_gate *gate,
					struct msd_diag *d);

/**
 * Decide where the module runs and hand its device code to the drivers, once, after the
 * probe (drivers do not survive a fork) and before the first call. @device.type 0: what
 * the module has code for, with ordinal 0, the CPU when it has none. The CPU: host
 * functions alone, and kernels say so when they are launched. Errors: MSD_UNSUPPORTED
 * (no such device or driver, with what was looked for; no code for it, or code that
 * its compiler refuses, with its log), MSD_BAD_ARTIFACT (damaged code), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_loaded_place(struct msd_loaded *m, struct msd_device device,
					struct msd_diag *d);
/** Where it was placed, the CPU before: where a call's tensors belong that name no
 * device. */
struct msd_device msd_loaded_device(const struct msd_loaded *m);
/** What msd_loaded_reach() does for all but the host. */
MSD_MUST_CHECK msd_err msd_loaded_reach_device(struct msd_loaded *m,
					       struct msd_device device,
					       struct msd_dev **ret,
					       struct msd_diag *d);
/**
 * The open device for a call's tensors: where the module was placed, another one of
 * that type, which stays open with the module, or one that somebody has open; NULL is
 * the host. Borrowed. MSD_UNSUPPORTED: anything else, or there is no such device.
 */
static inline MSD_MUST_CHECK msd_err msd_loaded_reach(struct msd_loaded *m,
						      struct msd_device device,
						      struct msd_dev **ret,
						      struct msd_diag *d)
{
	*ret = NULL;
	return device.type == MSD_DEV_CPU && device.id == 0
		       ? MSD_OK
		       : msd_loaded_reach_device(m, device, ret, d);
}

/** Function by name, borrowed until close. MSD_NOT_FOUND names the nearest functions;
 * MSD_UNSUPPORTED when a node that cannot run here holds it. */
MSD_MUST_CHECK msd_err msd_loaded_find(struct msd_loaded *m, const char *name,
				       const struct msd_func_info **ret_info,
				       struct msd_function **ret, struct msd_diag *d);
/** All callable functions, sorted by name; borrowed until close. */
const struct msd_func_info *const *msd_loaded_functions(struct msd_loaded *m,
							size_t *ret_n);
/* What there is to say about the file. */
struct msd_loaded_about {
	const char *era;     /* what made it: "TVM 0.22-0.27 (tvm-ffi)"; static */
	char *machine;       /* whose code it holds: "x86-64" */
	struct msd_buf text; /* as inspect prints it */
};
/** Borrowed until close. */
const struct msd_loaded_about *msd_loaded_about(const struct msd_loaded *m);

/**
 * Call @fn. Arguments are checked first wherever compiled code would crash instead of
 * complaining; bool tensors are rewritten to the library's convention. On success
 * the caller owns *@ret (drop it). Errors: MSD_BAD_ARGUMENT, MSD_CALL_FAILED (the
 * callee's own text, whole), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_loaded_call(struct msd_loaded *m, struct msd_function *fn,
				       struct msd_any *args, size_t n,
				       struct msd_any *ret, struct msd_diag *d);

/*
 * An executor that keeps its inputs and outputs between calls, with functions by TVM's
 * names (set_input, run, get_output, ...). Close it before its module.
 */
/** MSD_UNSUPPORTED: the root of the module is nothing that keeps state, or cannot run
 * here. */
MSD_MUST_CHECK msd_err msd_loaded_instance(struct msd_loaded *m,
					   struct msd_instance **ret,
					   struct msd_diag *d);

#endif
