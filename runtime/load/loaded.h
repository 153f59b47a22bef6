#ifndef MSD_RUNTIME_LOAD_LOADED_H
#define MSD_RUNTIME_LOAD_LOADED_H
/*
 * A loaded artifact: the restored import tree, ready to look up and call functions. A
 * lookup searches the module's own functions first, then its imports depth-first. A
 * module kind that cannot run here is a node that reports the reason at lookup; it
 * does not fail the load.
 *
 * Threads: one thread at a time per artifact (compiled code may use the pool inside a
 * call).
 */
#include "proto/base/diag.h"
#include "runtime/module/module.h"
#include "runtime/value/value.h"

struct msd_dev;
struct msd_instance;
struct msd_loaded; /* opaque */

/**
 * Load a library from @fd (a sealed memfd or a file; not consumed, may be closed
 * afterwards). @file: the same bytes, mapped; must outlive the module. Runs the
 * library's constructors. Errors: MSD_BAD_ARTIFACT, MSD_UNSUPPORTED (another machine,
 * or missing symbols, which are all named), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_loaded_open(int fd, struct msd_span file,
				       const struct msd_load_options *options,
				       struct msd_loaded **ret, struct msd_diag *d);
void msd_loaded_close(
	struct msd_loaded *m); /* NULL is fine; invalidates its functions */

/**
 * Probe the functions for their signatures, as probe_signatures does at open. It
 * executes argument checks of foreign code, which may crash or never return; a caller
 * that cannot accept this probes in a child process first. Only before the first
 * call. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_loaded_probe(struct msd_loaded *m,
					const struct msd_probe_gate *gate,
					struct msd_diag *d);

/**
 * Choose the module's device and pass its device code to the driver. Call once, after
 * the probe (drivers do not survive a fork) and before the first call. @device.type
 * 0: the device that the module has code for, with ordinal 0, or the CPU if it has
 * none. With the CPU only host functions work, and kernels fail at launch. Errors:
 * MSD_UNSUPPORTED (no such device or driver, with a list of what was tried; no code
 * for it; or its compiler rejects the code, with its log), MSD_BAD_ARTIFACT (damaged
 * code), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_loaded_place(struct msd_loaded *m, struct msd_device device,
					struct msd_diag *d);
/**
 * The module's device, initially the CPU. Tensors of a call that name no device
 * belong there.
 */
struct msd_device msd_loaded_device(const struct msd_loaded *m);
/** Implements msd_loaded_reach() for devices other than the host. */
MSD_MUST_CHECK msd_err msd_loaded_reach_device(struct msd_loaded *m,
					       struct msd_device device,
					       struct msd_dev **ret,
					       struct msd_diag *d);
/**
 * The open device for a call's tensors: the module's device, another one of the same
 * type, which stays open with the module, or one that is already open in this
 * process. NULL is the host. Borrowed. MSD_UNSUPPORTED: any other device, or it does
 * not exist.
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

/**
 * Function by name, borrowed until close. MSD_NOT_FOUND lists similar names;
 * MSD_UNSUPPORTED if a node that cannot run here holds it.
 */
MSD_MUST_CHECK msd_err msd_loaded_find(struct msd_loaded *m, const char *name,
				       const struct msd_func_info **ret_info,
				       struct msd_function **ret, struct msd_diag *d);
/** All callable functions, sorted by name; borrowed until close. */
const struct msd_func_info *const *msd_loaded_functions(struct msd_loaded *m,
							size_t *ret_n);
/* Description of the file. */
struct msd_loaded_about {
	const char *era;     /* compiler: "TVM 0.22-0.27 (tvm-ffi)"; static */
	char *machine;       /* machine of its code: "x86-64" */
	struct msd_buf text; /* as inspect prints it */
};
/** Kind of the root as its file names it ("relax.VMExecutable"); borrowed. */
struct msd_span msd_loaded_kind(struct msd_loaded *m);
/** Borrowed until close. */
const struct msd_loaded_about *msd_loaded_about(const struct msd_loaded *m);

/**
 * Call @fn. Arguments are checked first if compiled code would crash on bad ones.
 * Bool tensors are converted to the library's convention. On success the caller owns
 * *@ret (drop it). Errors: MSD_BAD_ARGUMENT, MSD_CALL_FAILED (the callee's complete
 * text), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_loaded_call(struct msd_loaded *m, struct msd_function *fn,
				       struct msd_any *args, size_t n,
				       struct msd_any *ret, struct msd_diag *d);

/**
 * Append the page of the module's plan that begins with row @from: the result of
 * module.plan. MSD_UNSUPPORTED: it is not a framework's model; MSD_BAD_ARGUMENT.
 */
MSD_MUST_CHECK msd_err msd_loaded_plan(struct msd_loaded *m, uint64_t from,
				       struct msd_buf *out, struct msd_diag *d);
/** Time the nodes of the next call. Errors: MSD_UNSUPPORTED as above, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_loaded_profile_start(struct msd_loaded *m,
						struct msd_diag *d);
/**
 * Stop that. *@ret is the tensor of times that module.profile returns, for a call of
 * @call_ns; the caller drops it. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_loaded_profile_stop(struct msd_loaded *m, uint64_t call_ns,
					       struct msd_any *ret, struct msd_diag *d);
/** The same without the times. */
void msd_loaded_profile_drop(struct msd_loaded *m);

/* An executor that keeps its inputs and outputs between calls, with functions under
 * TVM's names (set_input, run, get_output, ...). Close it before its module. */
/** True if the kind of the root has them. */
bool msd_loaded_has_instances(struct msd_loaded *m);
/** MSD_UNSUPPORTED: the root of the module keeps no state, or cannot run here. */
MSD_MUST_CHECK msd_err msd_loaded_instance(struct msd_loaded *m,
					   struct msd_instance **ret,
					   struct msd_diag *d);

#endif
