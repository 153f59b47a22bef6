/*
 * object.describe: the type of an object, and its fields by reflection.
 *
 * Happy path: each field that the type or an ancestor registered is read by its getter,
 * and its value is written as a result of a call is. Failures: a getter raises an
 * error, or a value cannot be sent; the answer is that error.
 */
#include "daemon/confine/crash.h"
#include "daemon/worker/handlers.h"
#include "daemon/worker/objects/held_objects.h"
#include "runtime/value/types.h"

/* Append a field as [name, value]. */
static msd_err write_field(struct msd_call *call, struct msd_obj *obj,
			   const struct msd_field_info *f, struct msd_buf *out,
			   struct msd_diag *d)
{
	struct msd_any value = msd_none();
	msd_err err = MSD_OK;

	msd_abi_clear();
	msd_crash_note("getter of", "a field");
	if (f->getter((char *)obj + f->offset, &value) != 0)
		err = msd_abi_fetch_error(d);
	msd_crash_note(NULL, NULL);
	if (err == MSD_OK) {
		msd_pack_array(out, 2);
		msd_pack_text(out, f->name.data, f->name.size);
		err = msd_call_write_value(call, &value, 2, out, d);
	}
	msd_any_drop(&value);
	return err == MSD_OK
		       ? err
		       : msd_diag_wrap(d, err, "field %.*s",
				       (int)(f->name.size < 200 ? f->name.size : 200),
				       f->name.data);
}

/* Fields of the ancestors come first. */
static msd_err write_fields(struct msd_call *call, struct msd_obj *obj,
			    const struct msd_type_info *info, struct msd_buf *out,
			    struct msd_diag *d)
{
	size_t n = 0;
	msd_err err = MSD_OK;

	for (int32_t i = 0; i <= info->depth; i++) {
		const struct msd_type_info *t =
			i < info->depth ? info->ancestors[i] : info;
		for (int32_t k = 0; k < t->n_fields; k++)
			n += t->fields[k].getter != NULL;
	}
	msd_pack_array(out, n);
	for (int32_t i = 0; err == MSD_OK && i <= info->depth; i++) {
		const struct msd_type_info *t =
			i < info->depth ? info->ancestors[i] : info;
		for (int32_t k = 0; err == MSD_OK && k < t->n_fields; k++) {
			if (t->fields[k].getter != NULL)
				err = write_field(call, obj, &t->fields[k], out, d);
		}
	}
	return err;
}

static msd_err write_description(struct msd_call *call, struct msd_obj *obj,
				 struct msd_buf *out, struct msd_diag *d)
{
	const struct msd_type_info *info = msd_type_info(obj->type);

	msd_pack_map(out, 4);
	msd_pack_cstr(out, "type");
	msd_pack_text(out, info->key.data, info->key.size);
	msd_pack_cstr(out, "is_function");
	msd_pack_bool(out, obj->type == MSD_T_FUNCTION);
	msd_pack_cstr(out, "ancestors");
	msd_pack_array(out, (size_t)info->depth);
	for (int32_t i = 0; i < info->depth; i++) {
		msd_pack_text(out, info->ancestors[i]->key.data,
			      info->ancestors[i]->key.size);
	}
	msd_pack_cstr(out, "fields");
	return write_fields(call, obj, info, out, d);
}

/* [object]: the type, and the fields that it registered. */
msd_err msd_handle_object_describe(struct msd_worker *w, struct msd_request *r,
				   struct msd_buf *out, struct msd_diag *d)
{
	struct msd_call call = {
		.peer = r->peer, .module = w->module, .arena = &w->arena};
	struct msd_cur c;
	struct msd_wire_value v;
	uint32_t n;

	if (!msd_array_open(r->params, &c, &n) || n != 1 ||
	    msd_value_read(&c, &v, NULL) != MSD_OK || v.kind != MSD_K_OBJECT) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "object.describe: expected [object]");
	}
	struct msd_obj *obj =
		msd_held_objects_peek(&r->peer->objects, v.as.object.handle);
	if (obj == NULL) {
		return msd_diag_set(d, MSD_STALE_HANDLE,
				    "object.describe: the object is gone");
	}
	msd_body_begin_result(out, r->id, false);
	msd_err err = write_description(&call, obj, out, d);
	if (err == MSD_OK && out->n > MSD_MAX_BODY_BYTES) {
		err = msd_diag_set(d, MSD_TOO_LARGE,
				   "the fields take %zu bytes beside their tensors, "
				   "more than %u",
				   out->n, MSD_MAX_BODY_BYTES);
	}
	msd_call_finish(&call, err != MSD_OK);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "object.describe");
}
