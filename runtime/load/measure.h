#ifndef MSD_RUNTIME_LOAD_MEASURE_H
#define MSD_RUNTIME_LOAD_MEASURE_H
/*
 * Calls a function many times, and returns the mean duration of each series. It counts
 * as TVM's time evaluator does, so that its times can be compared.
 */
#include "proto/base/diag.h"

struct msd_measure {
	uint64_t number; /* calls of a series; grows until it takes min_repeat_ms */
	uint64_t repeat; /* series */
	uint64_t min_repeat_ms;
	uint64_t limit_zero; /* series of 0 ns after which it does not grow further */
	uint64_t cooldown_ms, repeats_to_cooldown;
};
#define MSD_MEASURE_DEFAULT                                                            \
	{                                                                              \
		.limit_zero = 100, .repeats_to_cooldown = 1                            \
	}

/* The timed code. Its functions return MSD_OK; an error ends the measurement. */
struct msd_measured {
	msd_err (*call)(void *ctx, struct msd_diag *d);
	msd_err (*prepare)(void *ctx,
			   struct msd_diag *d); /* before each repeat; or NULL */
	void (*flush)(void *ctx);               /* before each series; or NULL */
	msd_err (*sync)(void *ctx, struct msd_diag *d); /* waits for devices */
	uint64_t (*now_ns)(void *ctx);
	void (*cool_down)(void *ctx, uint64_t ms); /* NULL: cooldown_ms is 0 */
	void *ctx;
};

/** Measure. @ret_s has room for @m->repeat numbers. Errors: those of @of. */
MSD_MUST_CHECK msd_err msd_measure_run(const struct msd_measure *m,
				       const struct msd_measured *of, double *ret_s,
				       struct msd_diag *d);

#endif
