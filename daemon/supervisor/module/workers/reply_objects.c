#include "daemon/supervisor/module/workers/reply_objects.h"

#include <stdlib.h>

#include "daemon/supervisor/module/workers/replica.h"
#include "proto/value.h"

/* The objects of a result, in its order. */
struct found {
	const uint8_t *result;
	struct msd_reply_object *objects;
	uint32_t n, n_maps, room;
	struct msd_span key; /* type of the first object */
};

static msd_err on_ext(void *ctx, int8_t type, size_t at, size_t n, struct msd_diag *d)
{
	struct found *f = ctx;

	if (type != MSD_EXT_OBJECT) {
		f->n_maps += type == MSD_EXT_MAP;
		return MSD_OK;
	}
	if (f->n == f->room) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "an object that belongs to no result");
	}
	if (f->n == 0) {
		f->key = (struct msd_span){f->result + at + MSD_WIRE_OBJECT_BYTES,
					   n - MSD_WIRE_OBJECT_BYTES};
	}
	f->objects[f->n++] = (struct msd_reply_object){
		.at = (uint32_t)at, .handle = msd_handle_read(f->result + at)};
	return MSD_OK;
}

/* Find the objects in the result of @in. The caller frees them. */
static msd_err find(const struct msd_in *in, struct found *ret, struct msd_diag *d)
{
	struct found f = {.result = in->body.result.p, .room = in->body.n_objects};
	struct msd_ext_visitor visitor = {.visit = on_ext, .ctx = &f};
	size_t used;

	f.objects = calloc(f.room, sizeof(*f.objects));
	if (f.objects == NULL)
		return msd_diag_set(d, MSD_NOMEM, "reply: out of memory");
	msd_err err = msd_scan_object(in->body.result, &visitor, &used, d);
	if (err == MSD_OK && f.n + f.n_maps < f.room) {
		err = msd_diag_set(d, MSD_PROTOCOL,
				   "an object that belongs to no result");
	}
	if (err != MSD_OK) {
		free(f.objects);
		return err;
	}
	*ret = f;
	return MSD_OK;
}

static msd_err refuse(const struct found *f, struct msd_diag *d)
{
	static const char hint[] =
		"in session.hello ask for objects: {\"objects\": true}";
	const msd_err err =
		f->n > 0
			? msd_diag_set(d, MSD_UNSUPPORTED,
				       "the result holds an object of type %.*s, which "
				       "this connection does not take",
				       (int)f->key.n, (const char *)f->key.p)
			: msd_diag_set(d, MSD_UNSUPPORTED,
				       "the result holds a map, which this connection "
				       "does not take");

	if (d != NULL)
		d->hint = hint;
	return err;
}

msd_err msd_reply_objects_give(struct msd_req *r, const struct msd_in *in,
			       uint8_t *result, struct msd_diag *d)
{
	const struct msd_client_ops *ops = r->client.who->ops;
	struct found f = {0};
	msd_err err = find(in, &f, d);

	if (err != MSD_OK)
		return err;
	if (ops->take_objects == NULL || !r->client.who->takes_objects) {
		err = refuse(&f, d);
	} else if (f.n > 0) {
		err = ops->take_objects(r->client.who, r, f.objects, f.n, d);
	}
	for (uint32_t i = 0; err == MSD_OK && i < f.n; i++)
		msd_handle_write(f.objects[i].handle, result + f.objects[i].at);
	free(f.objects);
	return err;
}

msd_err msd_reply_objects_free(struct msd_process *p, const struct msd_in *in,
			       struct msd_diag *d)
{
	struct found f = {0};
	const msd_err err = find(in, &f, d);

	if (err != MSD_OK)
		return err;
	if (f.n > 0 && p->replica != NULL)
		p->replica->group->ops->free_objects(p->replica, f.objects, f.n);
	free(f.objects);
	return MSD_OK;
}
