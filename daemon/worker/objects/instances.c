#include "daemon/worker/objects/instances.h"

#include "daemon/worker/handlers.h"
#include "daemon/worker/worker.h"
#include "runtime/module/instance.h"

struct msd_instance *msd_instances_peek(const struct msd_handles *instances,
					struct msd_handle h)
{
	return msd_handles_peek(instances, MSD_K_INSTANCE, h);
}

void msd_instances_finish(struct msd_handles *instances)
{
	const struct msd_handle_entry *e;
	uint32_t at = 0;

	while ((e = msd_handles_next(instances, &at)) != NULL)
		msd_instance_close(e->object);
	msd_handles_finish(instances);
}

/* [name]: the supervisor has checked that it is this module's name. */
msd_err msd_handle_instance(struct msd_worker *w, struct msd_request *r,
			    struct msd_buf *out, struct msd_diag *d)
{
	struct msd_instance *instance;
	struct msd_handle h;
	msd_err err = msd_loaded_instance(w->module, &instance, d);

	if (err == MSD_OK) {
		err = msd_handles_add(&r->peer->instances, MSD_K_INSTANCE, instance, &h,
				      d);
		if (err != MSD_OK)
			msd_instance_close(instance);
	}
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "module.instance");
	msd_body_begin_response(out, r->id, false);
	msd_pack_nil(out);
	msd_pack_handle(out, MSD_EXT_INSTANCE, h);
	return MSD_OK;
}

/* False if @h is stale. */
static bool drop(struct msd_handles *instances, struct msd_handle h)
{
	struct msd_instance *instance = msd_instances_peek(instances, h);

	if (instance == NULL)
		return false;
	msd_handles_remove(instances, h);
	msd_instance_close(instance);
	return true;
}

/* [instance...]: frees all existing ones, even if stale handles are listed. */
msd_err msd_handle_instance_free(struct msd_worker *w, struct msd_request *r,
				 struct msd_buf *out, struct msd_diag *d)
{
	struct msd_cur c;
	struct msd_wire_value v;
	uint32_t n;
	uint32_t n_stale = 0;

	(void)w;
	if (!msd_array_open(r->params, &c, &n)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "instance.free: expected [instance...]");
	}
	for (uint32_t i = 0; i < n; i++) {
		msd_err err = msd_value_read(&c, &v, d);
		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "instance.free: argument %u", i);
		if (v.kind != MSD_K_INSTANCE || !drop(&r->peer->instances, v.as.handle))
			n_stale++;
	}
	if (n_stale > 0) {
		return msd_diag_set(
			d, MSD_STALE_HANDLE,
			"instance.free: %u of %u instances are gone already", n_stale,
			n);
	}
	msd_body_begin_response(out, r->id, false);
	msd_pack_nil(out);
	msd_pack_nil(out);
	return MSD_OK;
}
