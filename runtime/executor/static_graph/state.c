#include "runtime/executor/static_graph/state.h"

#include <stdlib.h>

#include "runtime/executor/kept.h"

struct state {
	struct msd_kept base; /* first member */
	struct msd_static_model *model;
};

static struct msd_static_model *model_of(const struct msd_executor *x)
{
	return ((const struct state *)x)->model;
}

static struct msd_model_tensor input(const struct msd_executor *x, uint32_t i)
{
	return msd_static_model_input(model_of(x), i);
}

static struct msd_model_tensor output(const struct msd_executor *x, uint32_t i)
{
	return msd_static_model_output(model_of(x), i);
}

static int call(struct msd_kept *k)
{
	return msd_static_model_run(model_of(&k->base), k->inputs, k->base.n_inputs,
				    msd_tensor_new, k->outputs);
}

static const struct msd_any *bound(const struct msd_kept *k, uint32_t i)
{
	return msd_static_model_default(model_of(&k->base), i);
}

/* The parameters are defaults; all other weights are constants of the model. */
static const struct msd_kept_ops kept_ops = {.bound = bound, .call = call};
static const struct msd_executor_ops row = {
	.input = input, .output = output, MSD_KEPT_COLUMNS};

msd_err msd_static_state_create(struct msd_static_model *model,
				struct msd_instance **ret, struct msd_diag *d)
{
	struct state *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return msd_diag_no_memory(d);
	s->model = model;
	msd_err err = msd_kept_init(&s->base, &row, &kept_ops,
				    msd_static_model_n_inputs(model),
				    msd_static_model_n_outputs(model), d);
	if (err != MSD_OK) {
		msd_kept_destroy(&s->base.base);
		return err;
	}
	*ret = &s->base.base.base;
	return MSD_OK;
}
