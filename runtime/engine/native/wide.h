#ifndef MSD_RUNTIME_ENGINE_NATIVE_WIDE_H
#define MSD_RUNTIME_ENGINE_NATIVE_WIDE_H
/*
 * Nodes of float16 and bfloat16: the kernels of float32 compute them. A claim sees a
 * copy of the node with float32 in place of these types. Inputs are widened into
 * scratch memory in each run, and results are rounded from there.
 */
#include "runtime/engine/native/claim.h"

/** True if input 0 is float16 or bfloat16: call the functions below. */
bool msd_native_is_short(const modser_sg_node *node);
/** The claim's `may` with float32 in place of short floats. */
bool msd_native_wide_may(const struct msd_native_claim *claim,
			 const modser_sg_node *node);
/** The claim's `pack` with widened constants. False: memory is short. */
bool msd_native_wide_pack(const struct msd_native_claim *claim,
			  const modser_sg_node *node, struct msd_native_packed **ret);
/** The claim's `run`. */
msd_err msd_native_wide_run(const struct msd_native_claim *claim,
			    const struct msd_kernel_call *c,
			    const struct msd_native_packed *packed, struct msd_diag *d);

#endif
