#include "runtime/executor/aot/state.h"

#include <stdlib.h>

#include "runtime/executor/kept.h"

struct state {
	struct msd_kept base; /* first member */
	struct msd_aot *aot;
};

static struct msd_aot *aot_of(const struct msd_executor *x)
{
	return ((const struct state *)x)->aot;
}

static struct msd_model_tensor input(const struct msd_executor *x, uint32_t i)
{
	return msd_aot_describe(&msd_aot_metadata(aot_of(x))->inputs[i]);
}

static struct msd_model_tensor output(const struct msd_executor *x, uint32_t i)
{
	return msd_aot_describe(&msd_aot_metadata(aot_of(x))->outputs[i]);
}

static const struct msd_any *bound(const struct msd_kept *k, uint32_t i)
{
	return msd_aot_bound(aot_of(&k->base), i);
}

static int call(struct msd_kept *k)
{
	return msd_aot_call(aot_of(&k->base), k->inputs, k->outputs);
}

static const struct msd_kept_ops kept_ops = {.bound = bound, .call = call};
static const struct msd_executor_ops row = {
	.has_c_names = true, .input = input, .output = output, MSD_KEPT_COLUMNS};

msd_err msd_aot_state_create(struct msd_aot *aot, struct msd_instance **ret,
			     struct msd_diag *d)
{
	const struct msd_aot_metadata *meta = msd_aot_metadata(aot);
	struct state *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return msd_diag_no_memory(d);
	s->aot = aot;
	msd_err err = msd_kept_init(&s->base, &row, &kept_ops, (uint32_t)meta->n_inputs,
				    (uint32_t)meta->n_outputs, d);
	if (err != MSD_OK) {
		msd_kept_destroy(&s->base.base);
		return err;
	}
	*ret = &s->base.base.base;
	return MSD_OK;
}
