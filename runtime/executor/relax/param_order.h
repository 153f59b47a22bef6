#ifndef MSD_RUNTIME_EXECUTOR_RELAX_PARAM_ORDER_H
#define MSD_RUNTIME_EXECUTOR_RELAX_PARAM_ORDER_H
/* The order of the parameters in `packed_params`. */
#include "runtime/executor/relax/vm.h"

struct msd_shard_record;

struct msd_param_order {
	const struct msd_shard_record **records; /* owned list of borrowed records */
	size_t n;
};

/**
 * Read the order from the function _metadata, which is called; without one, the records
 * of a single shard are in their order. The caller owns *@ret (finish it). Errors:
 * MSD_BAD_ARTIFACT, MSD_UNSUPPORTED, MSD_NOT_FOUND (no record of a name, or of another
 * type), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_param_order_read(struct msd_relax_vm *vm,
					    struct msd_param_order *ret,
					    struct msd_diag *d);
void msd_param_order_finish(struct msd_param_order *o); /* zeroed is fine */

#endif
