#include "runtime/executor/static_graph/state.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/executor/executor.h"
#include "runtime/value/error.h"

struct state {
	struct msd_executor base; /* first */
	struct msd_static_model *model;
	struct msd_any *inputs;  /* tensors, zeros at first */
	struct msd_any *outputs; /* of the last run */
	bool has_run;
};

static const struct state *peek(const struct msd_executor *x)
{
	return (const struct state *)x;
}

static struct msd_model_tensor input(const struct msd_executor *x, uint32_t i)
{
	return msd_static_model_input(peek(x)->model, i);
}

static struct msd_model_tensor output(const struct msd_executor *x, uint32_t i)
{
	return msd_static_model_output(peek(x)->model, i);
}

/* Weights are constants of the model, never inputs. */
static bool is_param(const struct msd_executor *x, uint32_t i)
{
	(void)x;
	(void)i;
	return false;
}

static void put(struct state *s, uint32_t i, struct msd_tensor *t)
{
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

static void drop_outputs(struct state *s)
{
	for (uint32_t i = 0; s->outputs != NULL && i < s->base.n_outputs; i++)
		msd_any_drop(&s->outputs[i]);
	s->has_run = false;
}

static int run(struct msd_executor *x)
{
	struct state *s = (struct state *)x;

	drop_outputs(s);
	if (msd_static_model_run(s->model, s->inputs, s->outputs) != 0)
		return -1;
	s->has_run = true;
	return 0;
}

static int get_input(struct msd_executor *x, uint32_t i, struct msd_any *ret)
{
	struct msd_tensor *copy =
		msd_instance_keep(msd_any_dltensor(&peek(x)->inputs[i]));

	if (copy == NULL)
		return -1;
	*ret = msd_of_obj(&copy->obj);
	return 0;
}

static int get_output(struct msd_executor *x, uint32_t i, struct msd_any *ret)
{
	if (!peek(x)->has_run)
		return msd_abi_raise("RuntimeError", "run was not called yet");
	return msd_any_copy(&peek(x)->outputs[i], ret)
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

static msd_err zero_inputs(struct state *s, struct msd_diag *d)
{
	for (uint32_t i = 0; i < s->base.n_inputs; i++) {
		const struct msd_model_tensor in = input(&s->base, i);
		struct msd_tensor *t = msd_tensor_new(in.dtype, in.shape, in.ndim);

		if (t == NULL)
			return msd_diag_no_memory(d);
		memset(t->dl.data, 0, msd_dltensor_bytes(&t->dl));
		put(s, i, t);
	}
	return MSD_OK;
}

msd_err msd_static_state_create(struct msd_static_model *model,
				struct msd_instance **ret, struct msd_diag *d)
{
	const uint32_t n_in = msd_static_model_n_inputs(model);
	const uint32_t n_out = msd_static_model_n_outputs(model);
	struct state *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return msd_diag_no_memory(d);
	s->model = model;
	s->inputs = calloc((size_t)n_in + 1, sizeof(*s->inputs));
	s->outputs = calloc((size_t)n_out + 1, sizeof(*s->outputs));
	msd_err err = msd_executor_init(&s->base, &ops, n_in, n_out, d);
	if (err == MSD_OK && (s->inputs == NULL || s->outputs == NULL))
		err = msd_diag_no_memory(d);
	if (err == MSD_OK)
		err = zero_inputs(s, d);
	if (err != MSD_OK) {
		destroy(&s->base);
		return err;
	}
	*ret = &s->base.base;
	return MSD_OK;
}
