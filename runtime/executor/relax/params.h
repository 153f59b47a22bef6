#ifndef MSD_RUNTIME_EXECUTOR_RELAX_PARAMS_H
#define MSD_RUNTIME_EXECUTOR_RELAX_PARAMS_H
/*
 * A folder of parameters that was given with a Relax VM's library. Trailing parameters
 * of its functions are bound to it: `packed_params`, the tuple of all in the order of
 * the library's function _metadata, and parameters with the name of a record. Callers
 * need not send them.
 */
#include "artifact/params/shards.h"
#include "runtime/executor/relax/vm.h"

struct msd_relax_params {
	struct msd_shards shards;
	struct msd_any *tensors; /* one for each record; None until it is needed */
	struct msd_any packed;   /* the tuple; None until it is needed */
	bool is_cached;          /* they are in TVM's cache, too */
};

/**
 * Read the folder in @bytes, which outlive it, and compare the shards with their MD5.
 * Errors: those of msd_shards_read().
 */
MSD_MUST_CHECK msd_err msd_relax_params_open(struct msd_span bytes,
					     struct msd_relax_params **ret,
					     struct msd_diag *d);
bool msd_relax_params_is_packed(struct msd_span name); /* "packed_params" */
/** Number of the last parameters of @f that the folder has. */
uint32_t msd_relax_params_count(const struct msd_relax_params *p,
				const struct msd_vm_func *f,
				const struct msd_relax_func *in);
/**
 * The tensor of the record @r on @dev, NULL for the host; made at its first use and
 * owned by @p. Errors: MSD_NOMEM, those of the device.
 */
MSD_MUST_CHECK msd_err msd_relax_params_tensor(struct msd_relax_params *p,
					       struct msd_dev *dev,
					       const struct msd_shard_record *r,
					       const struct msd_any **ret,
					       struct msd_diag *d);
/**
 * Bind the parameters of all functions, on the VM's device (bind.c). Calls _metadata.
 * Errors: MSD_BAD_ARTIFACT, MSD_UNSUPPORTED (their order is not known), MSD_NOT_FOUND
 * (a parameter that the folder lacks), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_relax_params_bind(struct msd_relax_vm *vm,
					     struct msd_diag *d);
void msd_relax_params_close(struct msd_relax_params *p); /* NULL is fine */

#endif
