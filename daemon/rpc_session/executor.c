#include "daemon/rpc_session/executor.h"

#include <stdlib.h>

#include "proto/base/grow.h"
#include "runtime/device/memory.h"
#include "runtime/load/loaded.h"

msd_err msd_rpc_executor_new(struct msd_loaded *m, struct msd_rpc_executor **ret,
			     struct msd_diag *d)
{
	struct msd_rpc_executor *x = calloc(1, sizeof(*x));

	if (x == NULL) {
		(void)msd_diag_no_memory(d);
		return MSD_NOMEM;
	}
	const msd_err err = msd_loaded_instance(m, &x->instance, d);
	if (err != MSD_OK) {
		free(x);
		return err;
	}
	x->n_refs = 1;
	*ret = x;
	return MSD_OK;
}

void msd_rpc_executor_ref(struct msd_rpc_executor *x)
{
	if (x != NULL)
		x->n_refs++;
}

void msd_rpc_executor_unref(struct msd_rpc_executor *x)
{
	if (x == NULL || --x->n_refs > 0)
		return;
	msd_instance_close(x->instance);
	for (uint32_t i = 0; i < x->n_inputs; i++)
		msd_obj_unref(&x->inputs[i].tensor->obj);
	free(x->inputs);
	free(x);
}

/* An executor shares only a tensor whose memory has an owner. */
static struct msd_tensor *make_tensor(const struct msd_dltensor *like)
{
	struct msd_dev *dev = msd_dev_peek(like->device);
	struct msd_tensor *t = NULL;

	if (dev != NULL) {
		return msd_dev_tensor(dev, like->dtype, like->shape, (size_t)like->ndim,
				      &t, NULL) == MSD_OK
			       ? t
			       : NULL;
	}
	struct msd_storage *memory = msd_storage_new(msd_dltensor_bytes(like));
	if (memory == NULL)
		return NULL;
	t = msd_tensor_view(memory->data, like->device, like->dtype, like->shape,
			    (size_t)like->ndim, &memory->obj, NULL, NULL);
	msd_obj_unref(&memory->obj);
	return t;
}

/* The tensor of an input, made at the first time. NULL: no memory. */
static struct msd_tensor *tensor_of(struct msd_rpc_executor *x, int64_t index,
				    const struct msd_dltensor *like)
{
	for (uint32_t i = 0; i < x->n_inputs; i++) {
		if (x->inputs[i].index == index)
			return x->inputs[i].tensor;
	}
	if (!msd_grow(&x->inputs, x->n_inputs, sizeof(*x->inputs)))
		return NULL;
	struct msd_tensor *t = make_tensor(like);
	if (t != NULL)
		x->inputs[x->n_inputs++] = (struct msd_rpc_input){index, t};
	return t;
}

/* A client may name an input by its name or by its number. */
static msd_err find_index(struct msd_instance *instance, const struct msd_any *which,
			  msd_rpc_call_fn call, void *ctx, int64_t *ret,
			  struct msd_diag *d)
{
	struct msd_any index, args[1] = {*which};
	struct msd_function *function;
	bool takes_out;
	msd_err err = msd_instance_find(instance, "get_input_index", &function,
					&takes_out, d);

	if (err == MSD_OK)
		err = call(ctx, function, args, 1, &index, d);
	if (err == MSD_OK)
		*ret = index.as.i;
	return err;
}

msd_err msd_rpc_executor_share(struct msd_rpc_executor *x, const struct msd_any *which,
			       struct msd_any *tensor, msd_rpc_call_fn call, void *ctx,
			       struct msd_diag *d)
{
	const struct msd_dltensor *now = msd_any_dltensor(tensor);
	struct msd_function *setter = NULL;
	struct msd_any none;
	int64_t index = -1;
	bool takes_out;

	if (now == NULL)
		return MSD_OK;
	const uint8_t *from = (const uint8_t *)now->data + now->byte_offset;
	msd_err err = find_index(x->instance, which, call, ctx, &index, d);
	if (err == MSD_OK) {
		err = msd_instance_find(x->instance, "set_input_zero_copy", &setter,
					&takes_out, d);
	}
	if (err != MSD_OK)
		return err;
	struct msd_tensor *own = tensor_of(x, index, now);
	if (own == NULL)
		return msd_diag_no_memory(d);
	if (own->dl.data != from) {
		struct msd_dev *dev = msd_dev_peek(now->device);
		err = msd_dev_copy(dev, own->dl.data, dev, from,
				   msd_dltensor_bytes(&own->dl), d);
	}
	if (err != MSD_OK)
		return err;
	msd_obj_ref(&own->obj);
	msd_any_drop(tensor);
	*tensor = msd_of_obj(&own->obj);
	struct msd_any args[2] = {*which, *tensor};
	err = call(ctx, setter, args, 2, &none, d);
	if (err == MSD_OK)
		msd_any_drop(&none);
	return err;
}
