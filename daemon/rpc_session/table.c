#include "daemon/rpc_session/table.h"

#include <stdlib.h>

#include "daemon/rpc_session/executor.h"
#include "runtime/device/device.h"

#define MAX_SLOTS (1u << MSD_RPC_SLOT_BITS)

static uint64_t handle_of(const struct msd_rpc_table *t, const struct msd_rpc_object *o)
{
	return o->uses << MSD_RPC_SLOT_BITS | (uint64_t)(o - t->slots);
}

static msd_err grow(struct msd_rpc_table *t, struct msd_diag *d)
{
	const uint32_t cap = t->cap > 0 ? t->cap * 2 : 64;

	if (cap > MAX_SLOTS) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "the session has %u objects, and no more",
				    MAX_SLOTS);
	}
	struct msd_rpc_object *slots = realloc(t->slots, cap * sizeof(*slots));
	if (slots == NULL)
		return msd_diag_no_memory(d);
	t->slots = slots;
	t->cap = cap;
	return MSD_OK;
}

msd_err msd_rpc_table_add(struct msd_rpc_table *t, const struct msd_rpc_object *o,
			  uint64_t *ret, struct msd_diag *d)
{
	struct msd_rpc_object *slot;
	uint64_t uses = 0;

	if (t->first_free == 0 && t->n == t->cap) {
		const msd_err err = grow(t, d);
		if (err != MSD_OK)
			return err;
	}
	if (t->first_free != 0) {
		slot = &t->slots[t->first_free - 1];
		uses = slot->uses;
		t->first_free = slot->next_free;
	} else {
		slot = &t->slots[t->n++];
	}
	*slot = *o;
	slot->uses = uses + 1;
	msd_rpc_executor_ref(slot->executor);
	*ret = handle_of(t, slot);
	return MSD_OK;
}

struct msd_rpc_object *msd_rpc_table_find(const struct msd_rpc_table *t,
					  uint64_t handle)
{
	const uint64_t slot = handle & (MAX_SLOTS - 1);

	if (slot >= t->n || t->slots[slot].kind == MSD_RPC_FREE ||
	    t->slots[slot].uses != handle >> MSD_RPC_SLOT_BITS)
		return NULL;
	return &t->slots[slot];
}

void msd_rpc_table_remove(struct msd_rpc_table *t, struct msd_rpc_object *o)
{
	if (o->kind == MSD_RPC_IS_VALUE) {
		struct msd_rpc_object *elements = msd_rpc_table_find(t, o->array);

		if (o->array != 0 && elements != NULL)
			msd_rpc_table_remove(t, elements);
		msd_any_drop(&o->value);
	}
	if (o->kind == MSD_RPC_IS_FUNCTION) {
		msd_any_drop(&o->value);
		free(o->timer);
	}
	if (o->memory != NULL)
		msd_obj_unref(&o->memory->obj);
	msd_rpc_executor_unref(o->executor);
	*o = (struct msd_rpc_object){.uses = o->uses, .next_free = t->first_free};
	t->first_free = (uint32_t)(o - t->slots) + 1;
}

void msd_rpc_table_finish(struct msd_rpc_table *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->slots[i].kind != MSD_RPC_FREE)
			msd_rpc_table_remove(t, &t->slots[i]);
	}
	free(t->slots);
	*t = (struct msd_rpc_table){0};
}

static bool is_on(const struct msd_dev *dev, struct msd_device device)
{
	return dev != NULL
		       ? dev->device.type == device.type && dev->device.id == device.id
		       : device.type == MSD_DEV_CPU;
}

msd_err msd_rpc_table_reach(const struct msd_rpc_table *t,
			    const struct msd_rpc_tensor *x, uint64_t bytes,
			    struct msd_rpc_place *ret, struct msd_diag *d)
{
	const struct msd_rpc_object *o = msd_rpc_table_find(t, x->data);
	char name[MSD_DTYPE_NAME_MAX];

	if (o == NULL || o->kind != MSD_RPC_IS_ARRAY) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "the session has no array with the handle %llu",
				    (unsigned long long)x->data);
	}
	if (!is_on(o->dev, x->device)) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "the array with the handle %llu is not on %s:%d",
				    (unsigned long long)x->data,
				    msd_device_type_format(x->device.type, name),
				    x->device.id);
	}
	if (x->byte_offset > o->bytes || bytes > o->bytes - x->byte_offset) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "%llu bytes from byte %llu on are not within an "
				    "array of %llu bytes",
				    (unsigned long long)bytes,
				    (unsigned long long)x->byte_offset,
				    (unsigned long long)o->bytes);
	}
	*ret = (struct msd_rpc_place){o->data + x->byte_offset, o->dev, o->memory};
	return MSD_OK;
}
