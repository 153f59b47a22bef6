#include "daemon/worker/instances.h"

#include <stdlib.h>

#include "daemon/worker/worker.h"

struct msd_instance_slot {
	struct msd_instance *instance; /* owned; NULL: free */
	uint32_t generation;
};

void msd_instances_finish(struct msd_instances *t)
{
	for (uint32_t i = 0; i < t->n_slots; i++)
		msd_instance_close(t->slots[i].instance);
	free(t->slots);
	*t = (struct msd_instances){0};
}

/* The first free slot; n_slots when there is none. */
static uint32_t find_free(const struct msd_instances *t)
{
	uint32_t i = 0;

	while (i < t->n_slots && t->slots[i].instance != NULL)
		i++;
	return i;
}

/* Takes over @instance, on failure too. */
static msd_err add(struct msd_instances *t, struct msd_instance *instance,
		   struct msd_handle *ret, struct msd_diag *d)
{
	const uint32_t i = find_free(t);

	if (i == MSD_MAX_INSTANCES) {
		msd_instance_close(instance);
		return msd_diag_set(d, MSD_BUSY, "%u instances are the limit",
				    MSD_MAX_INSTANCES);
	}
	if (i == t->n_slots) {
		struct msd_instance_slot *more =
			reallocarray(t->slots, i + 1u, sizeof(*more));
		if (more == NULL) {
			msd_instance_close(instance);
			return msd_diag_set(d, MSD_NOMEM, "out of memory");
		}
		t->slots = more;
		t->slots[t->n_slots++] = (struct msd_instance_slot){0};
	}
	t->slots[i].instance = instance;
	if (++t->slots[i].generation == 0)
		t->slots[i].generation = 1; /* 0 is never valid */
	*ret = (struct msd_handle){.slot = i, .generation = t->slots[i].generation};
	return MSD_OK;
}

struct msd_instance *msd_instances_peek(const struct msd_instances *t,
					struct msd_handle h)
{
	if (h.slot >= t->n_slots || t->slots[h.slot].generation != h.generation)
		return NULL;
	return t->slots[h.slot].instance;
}

/* False when @h is stale. */
static bool drop(struct msd_instances *t, struct msd_handle h)
{
	struct msd_instance *instance = msd_instances_peek(t, h);

	if (instance == NULL)
		return false;
	t->slots[h.slot].instance = NULL;
	msd_instance_close(instance);
	return true;
}

/* [name]: the name is this module's, the supervisor has looked. */
msd_err msd_handle_instance(struct msd_worker *w, struct msd_request *r,
			    struct msd_buf *out, struct msd_diag *d)
{
	struct msd_instance *instance;
	struct msd_handle h;
	msd_err err = msd_loaded_instance(w->module, &instance, d);

	if (err == MSD_OK)
		err = add(&r->peer->instances, instance, &h, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "module.instance");
	msd_body_begin_response(out, r->id, false);
	msd_pack_nil(out);
	msd_pack_handle(out, MSD_EXT_INSTANCE, h);
	return MSD_OK;
}

/* [instance...]: frees all that are there. */
msd_err msd_handle_instance_free(struct msd_worker *w, struct msd_request *r,
				 struct msd_buf *out, struct msd_diag *d)
{
	struct msd_cur c;
	struct msd_wire_value v;
	uint32_t n;

	(void)w;
	if (!msd_array_open(r->params, &c, &n))
		return msd_diag_set(d, MSD_BAD_REQUEST, "expected [instance...]");
	while (n-- > 0) {
		msd_err err = msd_value_read(&c, &v, d);
		if (err != MSD_OK)
			return err;
		if (v.kind != MSD_K_INSTANCE || !drop(&r->peer->instances, v.as.handle))
			return msd_diag_set(d, MSD_STALE_HANDLE,
					    "the instance is gone");
	}
	msd_body_begin_response(out, r->id, false);
	msd_pack_nil(out);
	msd_pack_nil(out);
	return MSD_OK;
}
