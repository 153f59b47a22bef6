#ifndef MSD_RPC_SESSION_EXECUTOR_H
#define MSD_RPC_SESSION_EXECUTOR_H
/*
 * An executor that a client made of a module, and the memory of its inputs. TVM's
 * client sets an input by writing to the tensor that get_input returns. So it must be
 * the memory that the executor reads, and the same each time.
 */
#include "runtime/module/instance.h"
#include "runtime/value/value.h"

/* An input with memory of the session. */
struct msd_rpc_input {
	int64_t index;
	struct msd_tensor *tensor; /* a reference */
};

/* Counted: its functions, and what they returned, may use its memory. */
struct msd_rpc_executor {
	struct msd_instance *instance;
	uint32_t n_refs;
	struct msd_rpc_input *inputs;
	uint32_t n_inputs;
};

/** An executor with one reference. Errors: msd_loaded_instance(), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_rpc_executor_new(struct msd_loaded *m,
					    struct msd_rpc_executor **ret,
					    struct msd_diag *d);
/** Add a reference. NULL is fine, as for unref. */
void msd_rpc_executor_ref(struct msd_rpc_executor *x);
/** Drop a reference; the last one closes the executor. */
void msd_rpc_executor_unref(struct msd_rpc_executor *x);

/** Call @function of an executor, with checked arguments. */
typedef msd_err (*msd_rpc_call_fn)(void *ctx, struct msd_function *function,
				   struct msd_any *args, uint32_t n,
				   struct msd_any *ret, struct msd_diag *d);

/**
 * get_input(@which) of @x has returned *@tensor: replace it by the tensor of the
 * session with the same value, which the executor reads from now on. Errors: MSD_NOMEM,
 * those of @call.
 */
MSD_MUST_CHECK msd_err msd_rpc_executor_share(struct msd_rpc_executor *x,
					      const struct msd_any *which,
					      struct msd_any *tensor,
					      msd_rpc_call_fn call, void *ctx,
					      struct msd_diag *d);

#endif
