#ifndef MSD_RPC_SESSION_TIMER_H
#define MSD_RPC_SESSION_TIMER_H
/*
 * TVM's runtime.RPCTimeEvaluator: calls a function many times, and returns the mean
 * duration of each series. It counts as TVM does, so that its times can be compared.
 */
#include "daemon/rpc_session/state.h"

#define MSD_RPC_MAX_REPEATS 65536u

struct msd_rpc_timer {
	uint64_t number; /* calls of a series; grows until it takes min_repeat_ms */
	uint64_t repeat; /* series */
	uint64_t min_repeat_ms;
	uint64_t limit_zero; /* series of 0 ns after which it does not grow further */
	uint64_t cooldown_ms, repeats_to_cooldown;
	uint64_t flush_bytes;           /* copied before each series */
	bool flushes_args;              /* before each repeat, all but the first */
	struct msd_function *preparing; /* before each repeat; NULL: none */
};

/* The timed code. Its functions return MSD_OK; an error ends the measurement. */
struct msd_rpc_timed {
	msd_err (*call)(void *ctx, struct msd_diag *d);
	msd_err (*prepare)(void *ctx, struct msd_diag *d); /* before each repeat */
	void (*flush)(void *ctx);                          /* before each series */
	msd_err (*sync)(void *ctx, struct msd_diag *d);    /* waits for devices */
	uint64_t (*now_ns)(void *ctx);
	void (*cool_down)(void *ctx, uint64_t ms);
	void *ctx;
};

/** Read the arguments of RPCTimeEvaluator from the fifth on. Errors: MSD_BAD_ARGUMENT.
 */
MSD_MUST_CHECK msd_err msd_rpc_timer_read(const struct msd_rpc_args *args,
					  struct msd_rpc_timer *ret,
					  struct msd_diag *d);
/** Measure. @ret_s has room for @t->repeat numbers. Errors: those of @of. */
MSD_MUST_CHECK msd_err msd_rpc_timer_run(const struct msd_rpc_timer *t,
					 const struct msd_rpc_timed *of, double *ret_s,
					 struct msd_diag *d);
/** Remove the @n bytes at @p from the processor's caches, where that is possible. */
void msd_rpc_timer_flush(const void *p, size_t n);

#endif
