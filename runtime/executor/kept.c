#include "runtime/executor/kept.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/value/error.h"

static struct msd_kept *kept_of(struct msd_executor *x)
{
	return (struct msd_kept *)x;
}

bool msd_kept_is_param(const struct msd_executor *x, uint32_t i)
{
	const struct msd_kept *k = (const struct msd_kept *)x;

	return k->ops->bound != NULL && k->ops->bound(k, i) != NULL;
}

/* Set input @i to @t, already checked. The ABIs represent bool in two ways; convert
 * to that of the model's code. */
static void put(struct msd_executor *x, uint32_t i, struct msd_tensor *t)
{
	struct msd_any *input = &kept_of(x)->inputs[i];

	t->dl.dtype = x->ops->input(x, i).dtype;
	msd_any_drop(input);
	*input = msd_of_obj(&t->obj);
}

int msd_kept_set(struct msd_executor *x, uint32_t i, const struct msd_dltensor *t)
{
	struct msd_tensor *copy = msd_instance_keep(t);

	if (copy == NULL)
		return -1;
	put(x, i, copy);
	return 0;
}

bool msd_kept_share(struct msd_executor *x, uint32_t i, const struct msd_dltensor *t)
{
	struct msd_tensor *view =
		msd_tensor_view((char *)t->data + t->byte_offset, t->device, t->dtype,
				t->shape, (size_t)t->ndim, NULL, NULL, NULL);

	if (view != NULL)
		put(x, i, view);
	return view != NULL;
}

/* Create zeros for an input that was not set and is not bound. */
static int fill_input(struct msd_executor *x, uint32_t i)
{
	if (kept_of(x)->inputs[i].type != MSD_T_NONE || msd_kept_is_param(x, i))
		return 0;
	const struct msd_model_tensor want = x->ops->input(x, i);
	int64_t shape[MSD_MAX_NDIM];

	for (uint32_t k = 0; k < want.ndim; k++) /* an extent that a call sets is 1 */
		shape[k] = want.shape[k] < 0 ? 1 : want.shape[k];
	struct msd_tensor *t = msd_tensor_new(want.dtype, shape, want.ndim);
	if (t == NULL)
		return msd_abi_raise_code(MSD_NOMEM, "no memory for an input");
	memset(t->dl.data, 0, msd_dltensor_bytes(&t->dl));
	put(x, i, t);
	return 0;
}

static void drop_outputs(struct msd_kept *k)
{
	for (uint32_t i = 0; k->outputs != NULL && i < k->base.n_outputs; i++)
		msd_any_drop(&k->outputs[i]);
	k->has_run = false;
}

int msd_kept_run(struct msd_executor *x)
{
	struct msd_kept *k = kept_of(x);

	for (uint32_t i = 0; i < x->n_inputs; i++) {
		if (fill_input(x, i) != 0)
			return -1;
	}
	drop_outputs(k);
	if (k->ops->call(k) != 0)
		return -1;
	k->has_run = true;
	return 0;
}

/* Return a copy: the next set_input uses other memory, but a shared tensor may
 * change. */
int msd_kept_get_input(struct msd_executor *x, uint32_t i, struct msd_any *ret)
{
	const struct msd_kept *k = kept_of(x);

	if (fill_input(x, i) != 0)
		return -1;
	const struct msd_any *v =
		k->inputs[i].type != MSD_T_NONE ? &k->inputs[i] : k->ops->bound(k, i);
	struct msd_tensor *copy = msd_instance_keep(msd_any_dltensor(v));
	if (copy == NULL)
		return -1;
	*ret = msd_of_obj(&copy->obj);
	return 0;
}

int msd_kept_get_output(struct msd_executor *x, uint32_t i, struct msd_any *ret)
{
	const struct msd_kept *k = kept_of(x);

	if (!k->has_run)
		return msd_abi_raise("RuntimeError", "run was not called yet");
	return msd_any_copy(&k->outputs[i], ret) ? 0 : msd_abi_no_memory();
}

void msd_kept_destroy(struct msd_executor *x)
{
	struct msd_kept *k = kept_of(x);

	drop_outputs(k);
	for (uint32_t i = 0; k->inputs != NULL && i < x->n_inputs; i++)
		msd_any_drop(&k->inputs[i]);
	free(k->inputs);
	free(k->outputs);
	msd_executor_finish(x);
	free(k);
}

msd_err msd_kept_init(struct msd_kept *k, const struct msd_executor_ops *row,
		      const struct msd_kept_ops *ops, uint32_t n_inputs,
		      uint32_t n_outputs, struct msd_diag *d)
{
	k->ops = ops;
	k->inputs = calloc((size_t)n_inputs + 1, sizeof(*k->inputs));
	k->outputs = calloc((size_t)n_outputs + 1, sizeof(*k->outputs));
	msd_err err = msd_executor_init(&k->base, row, n_inputs, n_outputs, d);
	if (err == MSD_OK && (k->inputs == NULL || k->outputs == NULL))
		err = msd_diag_no_memory(d);
	return err;
}
