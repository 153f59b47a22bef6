/*
 * Encodes a request: the head (frame header and body) in a buffer of its own, and an
 * iovec of the head, the caller's tensors and the padding between them.
 *
 * Happy path: room for the header is reserved. Then method, params and options are
 * packed. Each tensor is encoded with its offset in the payload, and its memory is
 * appended to the iovec. Finally the sizes are written to the header. Out arguments
 * are recorded, so that their data can be placed.
 */
#include "client/ticket.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/call_options.h"
#include "client/result.h"
#include "client/transport/shared_segment.h"
#include "proto/base/grow.h"
#include "proto/body.h"
#include "proto/frame.h"
#include "proto/result_of.h"

/* Request being encoded. */
struct encoder {
	struct msd_ticket *t;
	const modser_segment *segments; /* NULL: all tensors are sent */
	uint64_t payload_bytes;
	uint32_t n_tensors;
	struct msd_diag *d;
};

static const uint8_t padding[MSD_TENSOR_ALIGN];

static msd_err no_memory(struct encoder *e)
{
	return msd_diag_set(e->d, MSD_NOMEM, "no memory for a request");
}

/* Append @n bytes of the caller's memory to the iovec. */
static msd_err put_iov(struct encoder *e, const void *p, size_t n)
{
	struct msd_ticket *t = e->t;
	struct iovec *iov;

	if (n == 0)
		return MSD_OK;
	if (t->n_iov == t->cap_iov &&
	    !msd_reserve(&t->iov, &t->cap_iov, t->n_iov + 1, sizeof(*iov)))
		return no_memory(e);
	iov = t->iov;
	/* sendmsg() only reads; struct iovec has no const. */
	iov[t->n_iov].iov_base = (void *)(uintptr_t)p;
	iov[t->n_iov].iov_len = n;
	t->n_iov++;
	return MSD_OK;
}

static msd_err put_payload(struct encoder *e, const modser_tensor *in,
			   struct msd_wire_tensor *t)
{
	uint64_t pad = -e->payload_bytes % MSD_TENSOR_ALIGN;

	if (in->data == NULL && t->bytes > 0)
		return msd_diag_set(e->d, MSD_BAD_ARGUMENT, "a tensor without data");
	if (t->bytes > MSD_MAX_PAYLOAD_BYTES - pad ||
	    e->payload_bytes > MSD_MAX_PAYLOAD_BYTES - pad - t->bytes) {
		return msd_diag_set(e->d, MSD_TOO_LARGE,
				    "tensors of more than %llu bytes in one request",
				    MSD_MAX_PAYLOAD_BYTES);
	}
	msd_err err = put_iov(e, padding, (size_t)pad);
	if (err != MSD_OK)
		return err;
	e->payload_bytes += pad;
	t->offset = e->payload_bytes;
	e->payload_bytes += t->bytes;
	return put_iov(e, in->data, (size_t)t->bytes);
}

static msd_err put_out(struct encoder *e, const modser_tensor *in,
		       const struct msd_wire_tensor *t)
{
	struct msd_ticket *ticket = e->t;

	if (ticket->n_outs == ticket->cap_outs &&
	    !msd_reserve(&ticket->outs, &ticket->cap_outs, ticket->n_outs + 1,
			 sizeof(*ticket->outs)))
		return no_memory(e);
	ticket->outs[ticket->n_outs].tensor = *t;
	ticket->outs[ticket->n_outs].data = in->data;
	ticket->n_outs++;
	return MSD_OK;
}

static msd_err put_tensor(struct encoder *e, const modser_value *v)
{
	const modser_tensor *in = &v->as.tensor;
	struct msd_wire_tensor t = {
		.where = v->kind == MODSER_OUT      ? MSD_AT_OUT
			 : v->kind == MODSER_TENSOR ? MSD_AT_INLINE
						    : MSD_AT_RESIDENT,
		.handle = {in->handle.slot, in->handle.generation},
		.dtype = {in->dtype.code, in->dtype.bits, in->dtype.lanes},
		.device = {in->device.type, in->device.id},
		.ndim = in->ndim};

	if (in->ndim > MSD_MAX_NDIM) {
		return msd_diag_set(e->d, MSD_BAD_ARGUMENT,
				    "a tensor of %u dimensions, at most %u", in->ndim,
				    MSD_MAX_NDIM);
	}
	if (in->ndim > 0)
		memcpy(t.shape, in->shape, in->ndim * sizeof(t.shape[0]));
	if (!modser_tensor_bytes(in->dtype, in->shape, in->ndim, &t.bytes)) {
		return msd_diag_set(e->d, MSD_BAD_ARGUMENT,
				    "a tensor with an invalid shape or dtype");
	}
	if (in->bytes != 0 && in->bytes != t.bytes) {
		return msd_diag_set(
			e->d, MSD_BAD_ARGUMENT,
			"a tensor of %llu bytes, but its dtype and shape need %llu",
			(unsigned long long)in->bytes, (unsigned long long)t.bytes);
	}
	if (++e->n_tensors > MSD_MAX_TENSORS) {
		return msd_diag_set(e->d, MSD_TOO_LARGE, "more than %u tensors",
				    MSD_MAX_TENSORS);
	}
	msd_err err = MSD_OK;
	if (e->segments != NULL && t.where != MSD_AT_RESIDENT && in->data != NULL)
		(void)msd_shared_segment_name(e->segments, in->data, &t);
	if (t.where == MSD_AT_OUT) {
		err = put_out(e, in, &t);
	} else if (t.where == MSD_AT_INLINE) {
		err = put_payload(e, in, &t);
	}
	if (err == MSD_OK)
		msd_pack_tensor(&e->t->head, &t);
	return err;
}

static msd_err put_value(struct encoder *e, const modser_value *v, unsigned depth);

static msd_err put_items(struct encoder *e, const modser_value *v, size_t n,
			 unsigned depth)
{
	if (depth >= MSD_MAX_DEPTH) {
		return msd_diag_set(e->d, MSD_BAD_REQUEST,
				    "values nested more than %u deep", MSD_MAX_DEPTH);
	}
	for (size_t i = 0; i < n; i++) {
		msd_err err = put_value(e, &v[i], depth + 1);
		if (err != MSD_OK)
			return err;
	}
	return MSD_OK;
}

static void put_handle(struct encoder *e, enum msd_ext type, modser_handle h)
{
	msd_pack_handle(&e->t->head, type, (struct msd_handle){h.slot, h.generation});
}

static void put_object(struct encoder *e, modser_handle h)
{
	msd_pack_object(&e->t->head, (struct msd_handle){h.slot, h.generation}, false,
			(struct msd_span){0});
}

/* A call takes maps with keys of any kind. */
static void put_map_head(struct encoder *e, size_t n)
{
	if (e->t->method == MSD_M_CALL) {
		msd_pack_map_value(&e->t->head, n);
	} else {
		msd_pack_map(&e->t->head, n);
	}
}

static msd_err put_result_of(struct encoder *e, const modser_value *v)
{
	struct msd_result_of r = {.id = v->as.result_of.id,
				  .n_path = v->as.result_of.n_way};

	if (r.n_path > MSD_MAX_RESULT_PATH) {
		return msd_diag_set(e->d, MSD_BAD_REQUEST,
				    "the path into a result has %u steps, at most %u",
				    r.n_path, MSD_MAX_RESULT_PATH);
	}
	memcpy(r.path, v->as.result_of.way, sizeof(r.path));
	msd_pack_result_of(&e->t->head, &r);
	return MSD_OK;
}

static msd_err put_value(struct encoder *e, const modser_value *v, unsigned depth)
{
	struct msd_buf *out = &e->t->head;

	switch (v->kind) {
	case MODSER_NIL:
		msd_pack_nil(out);
		return MSD_OK;
	case MODSER_BOOL:
		msd_pack_bool(out, v->as.b);
		return MSD_OK;
	case MODSER_INT:
		msd_pack_int(out, v->as.i);
		return MSD_OK;
	case MODSER_FLOAT:
		msd_pack_float(out, v->as.f);
		return MSD_OK;
	case MODSER_STR:
		msd_pack_str(out, v->as.str.p, v->as.str.n);
		return MSD_OK;
	case MODSER_BYTES:
		msd_pack_bin(out, v->as.str.p, v->as.str.n);
		return MSD_OK;
	case MODSER_DTYPE:
		msd_pack_dtype(out,
			       (struct msd_dtype){v->as.dtype.code, v->as.dtype.bits,
						  v->as.dtype.lanes});
		return MSD_OK;
	case MODSER_DEVICE:
		msd_pack_device(
			out, (struct msd_device){v->as.device.type, v->as.device.id});
		return MSD_OK;
	case MODSER_SHAPE:
		msd_pack_shape(out, v->as.shape.dim, v->as.shape.ndim);
		return MSD_OK;
	case MODSER_TENSOR:
	case MODSER_OUT:
	case MODSER_RESIDENT:
		return put_tensor(e, v);
	case MODSER_FUNCTION:
		put_handle(e, MSD_EXT_FUNCTION, v->as.handle);
		return MSD_OK;
	case MODSER_MODULE:
		put_handle(e, MSD_EXT_MODULE, v->as.handle);
		return MSD_OK;
	case MODSER_INSTANCE:
		put_handle(e, MSD_EXT_INSTANCE, v->as.handle);
		return MSD_OK;
	case MODSER_UPLOAD:
		put_handle(e, MSD_EXT_UPLOAD, v->as.handle);
		return MSD_OK;
	case MODSER_TUPLE:
		msd_pack_array(out, v->as.tuple.n);
		return put_items(e, v->as.tuple.item, v->as.tuple.n, depth);
	case MODSER_MAP:
		put_map_head(e, v->as.tuple.n);
		return put_items(e, v->as.tuple.item, 2 * v->as.tuple.n, depth);
	case MODSER_RESULT_OF:
		return put_result_of(e, v);
	case MODSER_OBJECT:
		put_object(e, v->as.object.handle);
		return MSD_OK;
	}
	return msd_diag_set(e->d, MSD_BAD_REQUEST, "a value of unknown kind %d",
			    (int)v->kind);
}

/* The daemon closes a connection that breaks these rules, so check them here. A body
 * that is in the cache @asked has passed the check before. */
static msd_err check_body(struct encoder *e, struct msd_memory *asked)
{
	const struct msd_buf *out = &e->t->head;
	const struct msd_span body = {out->p + MSD_FRAME_HEADER_BYTES,
				      out->n - MSD_FRAME_HEADER_BYTES};
	struct msd_body scanned;

	if (asked != NULL && msd_memory_find(asked, body, e->payload_bytes) != NULL)
		return MSD_OK;
	msd_err err = msd_body_read(body, NULL, &scanned, e->d);
	if (err != MSD_OK)
		return msd_diag_wrap(e->d, MSD_BAD_REQUEST, "arguments");
	if (asked != NULL)
		(void)msd_memory_add(asked, body, e->payload_bytes, &scanned);
	return MSD_OK;
}

static msd_err encode(struct encoder *e, const char *method, const modser_value *params,
		      size_t n_params, const modser_options *options,
		      struct msd_memory *asked)
{
	static const uint8_t no_header[MSD_FRAME_HEADER_BYTES];
	struct msd_buf *out = &e->t->head;
	const bool has_options = msd_call_options_count(options) > 0;
	msd_err err = put_iov(e, no_header, sizeof(no_header)); /* filled in below */

	if (err != MSD_OK)
		return err;
	msd_buf_put(out, no_header, sizeof(no_header));
	msd_body_begin_request(out, e->t->id, method, has_options);
	msd_pack_array(out, n_params);
	err = put_items(e, params, n_params, 1);
	if (err != MSD_OK)
		return err;
	if (has_options)
		msd_call_options_put(out, options, n_params > 0 ? n_params - 1 : 0);
	if (out->bad)
		return no_memory(e);
	if (out->n - MSD_FRAME_HEADER_BYTES > MSD_MAX_BODY_BYTES) {
		return msd_diag_set(e->d, MSD_TOO_LARGE,
				    "arguments of more than %u bytes besides tensors",
				    MSD_MAX_BODY_BYTES);
	}
	err = check_body(e, asked);
	if (err != MSD_OK)
		return err;
	msd_frame_write((struct msd_frame){(uint32_t)(out->n - MSD_FRAME_HEADER_BYTES),
					   e->payload_bytes},
			out->p);
	e->t->iov[0] = (struct iovec){out->p, out->n};
	return MSD_OK;
}

struct msd_ticket *msd_ticket_create(void)
{
	struct msd_ticket *t = calloc(1, sizeof(*t));

	if (t != NULL)
		t->fd = -1;
	return t;
}

msd_err msd_ticket_fill(struct msd_ticket *t, const char *method,
			const modser_value *params, size_t n_params,
			const modser_options *options, const modser_segment *segments,
			struct msd_memory *asked, struct msd_diag *d)
{
	static const modser_options none;
	struct encoder e = {.t = t, .d = d};

	if (options == NULL)
		options = &none;
	t->method = msd_method_find(msd_span_of(method));
	t->done = options->done;
	t->progress = options->progress;
	t->ctx = options->ctx;
	if (msd_shared_segment_serves(t->method))
		e.segments = segments;
	t->result = msd_result_create(t->id);
	return t->result != NULL ? encode(&e, method, params, n_params, options, asked)
				 : no_memory(&e);
}

size_t msd_ticket_bytes(const struct msd_ticket *t)
{
	return t->head.cap + t->cap_iov * sizeof(*t->iov) +
	       t->cap_outs * sizeof(*t->outs);
}

void msd_ticket_empty(struct msd_ticket *t)
{
	modser_result_free(t->result);
	if (t->fd >= 0)
		(void)close(t->fd);
	*t = (struct msd_ticket){.head = {.p = t->head.p, .cap = t->head.cap},
				 .iov = t->iov,
				 .cap_iov = t->cap_iov,
				 .fd = -1,
				 .outs = t->outs,
				 .cap_outs = t->cap_outs};
}

void msd_ticket_destroy(struct msd_ticket *t)
{
	if (t == NULL)
		return;
	msd_ticket_empty(t);
	msd_buf_finish(&t->head);
	free(t->iov);
	free(t->outs);
	free(t);
}
