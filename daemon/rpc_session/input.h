#ifndef MSD_RPC_SESSION_INPUT_H
#define MSD_RPC_SESSION_INPUT_H
/*
 * The inputs of executors. TVM's client sets an input by writing to the tensor that
 * get_input returns. So it must be the memory that the executor reads, and the same
 * each time.
 */
#include "runtime/module/instance.h"
#include "runtime/value/value.h"

/* An input with memory of the session. */
struct msd_rpc_input {
	const struct msd_instance *instance;
	int64_t index;
	struct msd_tensor *tensor; /* a reference */
};

struct msd_rpc_inputs {
	struct msd_rpc_input *list;
	uint32_t n, cap;
};

/** Drop all tensors. */
void msd_rpc_inputs_finish(struct msd_rpc_inputs *all);
/** Call @function of an instance, with checked arguments. */
typedef msd_err (*msd_rpc_call_fn)(void *ctx, struct msd_function *function,
				   struct msd_any *args, uint32_t n,
				   struct msd_any *ret, struct msd_diag *d);

/**
 * get_input(@which) of @instance has returned *@tensor: replace it by the tensor of the
 * session with the same value, which the executor reads from now on. Errors: MSD_NOMEM,
 * those of @call.
 */
MSD_MUST_CHECK msd_err msd_rpc_inputs_share(struct msd_rpc_inputs *all,
					    struct msd_instance *instance,
					    const struct msd_any *which,
					    struct msd_any *tensor,
					    msd_rpc_call_fn call, void *ctx,
					    struct msd_diag *d);

#endif
