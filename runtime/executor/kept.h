#ifndef MSD_RUNTIME_EXECUTOR_KEPT_H
#define MSD_RUNTIME_EXECUTOR_KEPT_H
/*
 * An executor that keeps its inputs and outputs as tensors, for models that take them
 * as arguments. set_input copies a tensor, which stays until the next one. A shared
 * tensor is used in place. An input that has neither and is no parameter is zeros.
 * The outputs are those of the last run. Each kind describes the inputs and runs the
 * model on them.
 */
#include "runtime/executor/executor.h"

struct msd_kept;

struct msd_kept_ops {
	/**
	 * The parameter bound to input @i; NULL if there is none, or the kind has no
	 * parameters.
	 */
	const struct msd_any *(*bound)(const struct msd_kept *k, uint32_t i);
	/**
	 * Run on the inputs (None for bound ones) and fill the outputs, which are
	 * None before. Returns 0, or -1 with the error raised and None in the
	 * outputs.
	 */
	int (*call)(struct msd_kept *k);
};

struct msd_kept { /* first member of the kind's struct */
	struct msd_executor base;
	const struct msd_kept_ops *ops;
	struct msd_any *inputs;
	struct msd_any *outputs;
	bool has_run;
};

/**
 * @k is zeroed except for the kind's members; after a failure call
 * msd_kept_destroy(). Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_kept_init(struct msd_kept *k,
				     const struct msd_executor_ops *row,
				     const struct msd_kept_ops *ops, uint32_t n_inputs,
				     uint32_t n_outputs, struct msd_diag *d);

/* Members of the kind's msd_executor_ops; destroy frees the object that begins at the
 * executor. */
bool msd_kept_is_param(const struct msd_executor *x, uint32_t i);
int msd_kept_set(struct msd_executor *x, uint32_t i, const struct msd_dltensor *t);
bool msd_kept_share(struct msd_executor *x, uint32_t i, const struct msd_dltensor *t);
int msd_kept_run(struct msd_executor *x);
int msd_kept_get_input(struct msd_executor *x, uint32_t i, struct msd_any *ret);
int msd_kept_get_output(struct msd_executor *x, uint32_t i, struct msd_any *ret);
void msd_kept_destroy(struct msd_executor *x);

#define MSD_KEPT_COLUMNS                                                               \
	.is_param = msd_kept_is_param, .set = msd_kept_set, .share = msd_kept_share,   \
	.run = msd_kept_run, .get_input = msd_kept_get_input,                          \
	.get_output = msd_kept_get_output, .destroy = msd_kept_destroy

#endif
