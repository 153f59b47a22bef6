#ifndef MSD_WORKER_FUNCS_H
#define MSD_WORKER_FUNCS_H
/* The module's functions by name, with statistics of their calls. A function is added
 * when it is first named. */
#include "daemon/worker/calls/rows_latency.h"
#include "runtime/load/loaded.h"

struct msd_func {
	enum msd_func_style style;
	bool has_batch;    /* its calls may be joined: batch.h */
	uint32_t n_needed; /* arguments of a call that may be joined, with has_batch */
	bool is_typed;     /* made with tvm-ffi's headers: runtime/module/check.h */
	struct msd_function *fn;
	/*
	 * Longest call so far, which decays by an eighth of the difference per call:
	 * one preempted call does not mark a function as slow for ever. 0: never
	 * called.
	 */
	uint64_t peak_ns;
	struct msd_rows_latency rows_pace; /* only with has_batch */
	uint32_t hash;
	uint16_t ledger_row; /* row that counts direct peers' calls; 0: not yet */
	char name[];         /* as requested */
};

struct msd_funcs {
	struct msd_loaded *module; /* borrowed */
	struct msd_func **table; /* open addressing, n_table is a power of two; owned */
	size_t n_table;
	size_t n_used;
};

/** Make an empty table of the functions of @module, which outlives it. */
void msd_funcs_init(struct msd_funcs *f, struct msd_loaded *module);
/**
 * Find the function @name, borrowed for as long as the table. Errors: those of
 * msd_loaded_find().
 */
MSD_MUST_CHECK msd_err msd_funcs_find(struct msd_funcs *f, struct msd_span name,
				      struct msd_func **ret, struct msd_diag *d);
/** Same as msd_funcs_find(), without the module: NULL if it was never named before. */
struct msd_func *msd_funcs_peek(const struct msd_funcs *f, struct msd_span name);
/** Forget the ledger rows of all functions. */
void msd_funcs_forget_rows(struct msd_funcs *f);
/** Record that one call took @ns. */
void msd_func_learn(struct msd_func *func, uint64_t ns);

#endif
