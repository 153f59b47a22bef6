#ifndef MSD_RPC_SESSION_TIMER_H
#define MSD_RPC_SESSION_TIMER_H
/* TVM's runtime.RPCTimeEvaluator: the loop is runtime/load/measure.h. */
#include "daemon/rpc_session/state.h"
#include "runtime/load/measure.h"

#define MSD_RPC_MAX_REPEATS 65536u

struct msd_rpc_timer {
	struct msd_measure measure;
	uint64_t flush_bytes;           /* copied before each series */
	bool flushes_args;              /* before each repeat, all but the first */
	struct msd_function *preparing; /* before each repeat; NULL: none */
};

/** Read the arguments of RPCTimeEvaluator from the fifth on. Errors: MSD_BAD_ARGUMENT.
 */
MSD_MUST_CHECK msd_err msd_rpc_timer_read(const struct msd_rpc_args *args,
					  struct msd_rpc_timer *ret,
					  struct msd_diag *d);
/** Remove the @n bytes at @p from the processor's caches, where that is possible. */
void msd_rpc_timer_flush(const void *p, size_t n);

#endif
