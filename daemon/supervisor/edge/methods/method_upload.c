/*
 * Uploads: begin creates one, the payload of each write is read straight into it, and
 * commit seals it for module.load.
 *
 * Failures: an incomplete upload cannot be committed. An upload that is not loaded
 * ends with its session.
 */
#include <stdlib.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/edge/uploads/upload.h"
#include "daemon/supervisor/edge/uploads/upload_find.h"
#include "proto/unpack.h"

static const msgpack_object *param(const struct msd_method_call *c, uint32_t i)
{
	return &c->params->via.array.ptr[i];
}

msd_err msd_method_find_upload(const struct msd_method_call *c, uint32_t i,
			       struct msd_upload **ret, struct msd_diag *d)
{
	struct msd_handle h;
	msd_err err = msd_object_handle(param(c, i), "upload", MSD_EXT_UPLOAD, &h, d);

	return err == MSD_OK ? msd_upload_find(c->session, h, ret, d) : err;
}

/* The reply is sent when the memory is reserved. */
static msd_err upload_begin(struct msd_method_call *c, struct msd_diag *d)
{
	uint64_t bytes;
	msd_err err = msd_object_uint(param(c, 1), "bytes", INT64_MAX, &bytes, d);

	if (err != MSD_OK)
		return err;
	struct msd_req *r =
		msd_req_new_waiting(&c->session->client, c->in->body.id, c->method);
	if (r == NULL)
		return msd_diag_no_memory(d);
	c->later = true;
	err = msd_upload_begin(c->session, bytes, r, d);
	if (err != MSD_OK)
		msd_req_refuse(r, err, msd_diag_text(d));
	return MSD_OK;
}

/* The chunk is already in place: msd_method_place_upload(). */
static msd_err upload_write(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_upload *u;
	msd_err err = msd_params_check(c->params, "module.upload write", 4, 4, d);

	if (err == MSD_OK)
		err = msd_method_find_upload(c, 1, &u, d);
	if (err == MSD_OK && c->in->payload == NULL) {
		err = msd_diag_set(d, MSD_BAD_REQUEST,
				   "module.upload write: no payload");
	}
	if (err == MSD_OK) {
		msd_upload_wrote(u, c->in->payload_bytes);
		msd_pack_nil(&c->result);
	}
	return err;
}

static msd_err upload_commit(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_upload *u;
	msd_err err = msd_method_find_upload(c, 1, &u, d);

	if (err == MSD_OK)
		err = msd_upload_commit(u, d);
	if (err == MSD_OK) {
		msd_pack_map(&c->result, 1);
		msd_pack_cstr(&c->result, "bytes");
		msd_pack_uint(&c->result, u->bytes);
	}
	return err;
}

static msd_err upload_abort(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_upload *u;
	msd_err err = msd_method_find_upload(c, 1, &u, d);

	if (err == MSD_OK) {
		msd_upload_drop(u);
		msd_pack_nil(&c->result);
	}
	return err;
}

static msd_err upload_find(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_span sha256;
	msd_err err = msd_object_bin(param(c, 1), "sha256", &sha256, d);

	if (err == MSD_OK && sha256.n != MSD_DIGEST_BYTES) {
		err = msd_diag_set(d, MSD_BAD_REQUEST,
				   "module.upload find: sha256: expected 32 bytes");
	}
	return err == MSD_OK ? msd_upload_find_stored(c, sha256, d) : err;
}

msd_err msd_method_upload(struct msd_method_call *c, struct msd_diag *d)
{
	static const struct {
		const char *name;
		msd_method_handler run;
	} steps[] = {{"begin", upload_begin},
		     {"find", upload_find},
		     {"write", upload_write},
		     {"commit", upload_commit},
		     {"abort", upload_abort}};
	struct msd_span step;
	msd_err err = msd_object_str(param(c, 0), "step", &step, d);

	for (unsigned i = 0; err == MSD_OK && i < sizeof(steps) / sizeof(steps[0]);
	     i++) {
		if (msd_span_is(step, steps[i].name))
			return steps[i].run(c, d);
	}
	if (err == MSD_OK) {
		err = msd_diag_set(d, MSD_BAD_REQUEST,
				   "module.upload: step must be begin, find, write, "
				   "commit or abort");
	}
	return err;
}

msd_err msd_method_place_upload(struct msd_session *s, struct msd_in *in, uint8_t **ret,
				struct msd_diag *d)
{
	struct msd_method_call c = {
		.session = s, .in = in, .method = MSD_M_MODULE_UPLOAD};
	struct msd_upload *u;
	struct msd_wire_tensor t;
	uint64_t offset;
	msd_err err = msd_unpack(s->edge->unpack, in->body.params, &c.params, d);

	if (err == MSD_OK)
		err = msd_params_check(c.params, "module.upload write", 4, 4, d);
	if (err == MSD_OK)
		err = msd_method_find_upload(&c, 1, &u, d);
	if (err == MSD_OK)
		err = msd_object_uint(param(&c, 2), "offset", INT64_MAX, &offset, d);
	if (err == MSD_OK)
		err = msd_object_tensor(param(&c, 3), "piece", &t, d);
	if (err == MSD_OK && (t.where != MSD_AT_INLINE || t.offset != 0 ||
			      t.bytes != in->payload_bytes)) {
		err = msd_diag_set(
			d, MSD_BAD_REQUEST,
			"module.upload write: the piece must be the whole payload");
	}
	return err == MSD_OK ? msd_upload_place(u, offset, t.bytes, ret, d) : err;
}
