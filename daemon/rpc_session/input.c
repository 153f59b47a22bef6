#include "daemon/rpc_session/input.h"

#include <stdlib.h>

#include "runtime/device/memory.h"

/* An executor shares only a tensor whose memory has an owner. */
static struct msd_tensor *make_tensor(const struct msd_dltensor *like)
{
	struct msd_dev *dev = msd_dev_peek(like->device);
	const size_t bytes = msd_dltensor_bytes(like);
	struct msd_storage *memory = NULL;

	if (dev == NULL) {
		memory = msd_storage_new(bytes);
	} else if (msd_dev_storage(dev, bytes, &memory, NULL) != MSD_OK) {
		return NULL;
	}
	if (memory == NULL)
		return NULL;
	struct msd_tensor *t =
		msd_tensor_view(memory->data, like->device, like->dtype, like->shape,
				(size_t)like->ndim, &memory->obj, NULL, NULL);
	msd_obj_unref(&memory->obj);
	return t;
}

/* The tensor of an input, made at the first time. NULL: no memory. */
static struct msd_tensor *tensor_of(struct msd_rpc_inputs *all,
				    const struct msd_instance *instance, int64_t index,
				    const struct msd_dltensor *like)
{
	for (uint32_t i = 0; i < all->n; i++) {
		const struct msd_rpc_input *in = &all->list[i];
		if (in->instance == instance && in->index == index)
			return in->tensor;
	}
	if (all->n == all->cap) {
		const uint32_t cap = all->cap > 0 ? all->cap * 2 : 16;
		struct msd_rpc_input *list = realloc(all->list, cap * sizeof(*list));
		if (list == NULL)
			return NULL;
		all->list = list;
		all->cap = cap;
	}
	struct msd_tensor *t = make_tensor(like);
	if (t != NULL)
		all->list[all->n++] = (struct msd_rpc_input){instance, index, t};
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

msd_err msd_rpc_inputs_share(struct msd_rpc_inputs *all, struct msd_instance *instance,
			     const struct msd_any *which, struct msd_any *tensor,
			     msd_rpc_call_fn call, void *ctx, struct msd_diag *d)
{
	const struct msd_dltensor *now = msd_any_dltensor(tensor);
	struct msd_function *setter = NULL;
	struct msd_any none;
	int64_t index = -1;
	bool takes_out;

	if (now == NULL)
		return MSD_OK;
	const uint8_t *from = (const uint8_t *)now->data + now->byte_offset;
	msd_err err = find_index(instance, which, call, ctx, &index, d);
	if (err == MSD_OK) {
		err = msd_instance_find(instance, "set_input_zero_copy", &setter,
					&takes_out, d);
	}
	if (err != MSD_OK)
		return err;
	struct msd_tensor *own = tensor_of(all, instance, index, now);
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

void msd_rpc_inputs_finish(struct msd_rpc_inputs *all)
{
	for (uint32_t i = 0; i < all->n; i++)
		msd_obj_unref(&all->list[i].tensor->obj);
	free(all->list);
	*all = (struct msd_rpc_inputs){0};
}
