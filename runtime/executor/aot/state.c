/*
 * The executor of an ahead-of-time model as an instance: inputs that stay, outputs of
 * the last run.
 *
 * Inputs hold the tensors themselves, for the compiled function takes them as
 * arguments; a tensor that was set is copied, one that was shared is used where it
 * lies.
 */
#include "runtime/executor/aot/state.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/executor/executor.h"
#include "runtime/value/error.h"

struct state {
	struct msd_executor base; /* first */
	struct msd_aot *aot;
	struct msd_any *inputs;  /* None: what the model has bound, else zeros */
	struct msd_any *outputs; /* of the last run */
	bool has_run;
};

static const struct msd_aot_metadata *meta_of(const struct msd_executor *x)
{
	return msd_aot_metadata(((const struct state *)x)->aot);
}

static struct msd_model_tensor input(const struct msd_executor *x, uint32_t i)
{
	return msd_aot_describe(&meta_of(x)->inputs[i]);
}

static struct msd_model_tensor output(const struct msd_executor *x, uint32_t i)
{
	return msd_aot_describe(&meta_of(x)->outputs[i]);
}

static bool is_param(const struct msd_executor *x, uint32_t i)
{
	return msd_aot_bound(((const struct state *)x)->aot, i) != NULL;
}

/* Input @i is @t from now on, in the bool of the model. */
static void put(struct state *s, uint32_t i, struct msd_tensor *t)
{
	t->dl.dtype = msd_aot_dtype(t->dl.dtype);
	msd_any_drop(&s->inputs[i]);
	s->inputs[i] = msd_of_obj(&t->obj);
}

static int set(struct msd_executor *x, uint32_t i, const struct msd_dltensor *t)
{
	struct msd_tensor *kept = msd_instance_keep(t);

	if (kept == NULL)
		return -1;
	put((struct state *)x, i, kept);
	return 0;
}

static bool share(struct msd_executor *x, uint32_t i, const struct msd_dltensor *t)
{
	struct msd_tensor *view =
		msd_tensor_view((char *)t->data + t->byte_offset, t->device, t->dtype,
				t->shape, (size_t)t->ndim, NULL, NULL, NULL);

	if (view != NULL)
		put((struct state *)x, i, view);
	return view != NULL;
}

/* Zeros for an input that nothing was set for and that is not bound. */
static int fill_input(struct msd_executor *x, uint32_t i)
{
	struct state *s = (struct state *)x;
	const struct msd_model_tensor want = input(x, i);

	if (s->inputs[i].type != MSD_T_NONE || is_param(x, i))
		return 0;
	struct msd_tensor *t = msd_tensor_new(want.dtype, want.shape, want.ndim);
	if (t == NULL)
		return msd_abi_raise_code(MSD_NOMEM, "no memory for an input");
	memset(t->dl.data, 0, msd_dltensor_bytes(&t->dl));
	put(s, i, t);
	return 0;
}

static void drop_outputs(struct state *s)
{
	for (uint32_t i = 0; s->outputs != NULL && i < s->base.n_outputs; i++)
		msd_any_drop(&s->outputs[i]);
	s->has_run = false;
}

static int run(struct msd_executor *x)
{
	struct state *s = (struct state *)x;

	for (uint32_t i = 0; i < x->n_inputs; i++) {
		if (fill_input(x, i) != 0)
			return -1;
	}
	drop_outputs(s);
	if (msd_aot_call(s->aot, s->inputs, s->outputs) != 0)
		return -1;
	s->has_run = true;
	return 0;
}

/* A copy: the next set_input writes to other memory, but a shared tensor's changes. */
static int get_input(struct msd_executor *x, uint32_t i, struct msd_any *ret)
{
	struct state *s = (struct state *)x;

	if (fill_input(x, i) != 0)
		return -1;
	const struct msd_any *v = s->inputs[i].type != MSD_T_NONE
					  ? &s->inputs[i]
					  : msd_aot_bound(s->aot, i);
	struct msd_tensor *copy = msd_instance_keep(msd_any_dltensor(v));
	if (copy == NULL)
		return -1;
	*ret = msd_of_obj(&copy->obj);
	return 0;
}

static int get_output(struct msd_executor *x, uint32_t i, struct msd_any *ret)
{
	struct state *s = (struct state *)x;

	if (!s->has_run)
		return msd_abi_raise("RuntimeError", "run was not called yet");
	return msd_any_copy(&s->outputs[i], ret)
		       ? 0
		       : msd_abi_raise_code(MSD_NOMEM, "out of memory");
}

static void destroy(struct msd_executor *x)
{
	struct state *s = (struct state *)x;

	drop_outputs(s);
	for (uint32_t i = 0; s->inputs != NULL && i < x->n_inputs; i++)
		msd_any_drop(&s->inputs[i]);
	free(s->inputs);
	free(s->outputs);
	msd_executor_finish(x);
	free(s);
}

static const struct msd_executor_ops ops = {
	.has_c_names = true,
	.input = input,
	.output = output,
	.is_param = is_param,
	.set = set,
	.share = share,
	.run = run,
	.get_input = get_input,
	.get_output = get_output,
	.destroy = destroy,
};

msd_err msd_aot_state_create(struct msd_aot *aot, struct msd_instance **ret,
			     struct msd_diag *d)
{
	const struct msd_aot_metadata *meta = msd_aot_metadata(aot);
	struct state *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return msd_diag_no_memory(d);
	s->aot = aot;
	s->inputs = calloc((size_t)meta->n_inputs + 1, sizeof(*s->inputs));
	s->outputs = calloc((size_t)meta->n_outputs + 1, sizeof(*s->outputs));
	msd_err err = msd_executor_init(&s->base, &ops, (uint32_t)meta->n_inputs,
					(uint32_t)meta->n_outputs, d);
	if (err == MSD_OK && (s->inputs == NULL || s->outputs == NULL))
		err = msd_diag_no_memory(d);
	if (err != MSD_OK) {
		destroy(&s->base);
		return err;
	}
	*ret = &s->base.base;
	return MSD_OK;
}
