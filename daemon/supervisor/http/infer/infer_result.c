/*
 * Happy path: the tensors that the function filled, then its results, each as JSON or
 * as bytes after the JSON; the bytes are sent from the worker's buffers. Failures:
 * the worker's error is the reply. A value that JSON cannot represent, or that is too
 * large for JSON, is rejected with a hint.
 */
#include "daemon/supervisor/http/infer/infer_result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "daemon/http/infer_data.h"
#include "daemon/http/infer_json.h"
#include "daemon/stream/conn.h"
#include "daemon/supervisor/http/infer/infer_make.h"
#include "proto/base/grow.h"
#include "proto/base/json.h"
#include "proto/base/text.h"
#include "proto/value.h"

#define AT_ONCE_BYTES 4096u /* of tensors, at most about 16 KiB of text */

struct telling {
	struct msd_infer_answer *answer;
	const struct msd_infer_wish *wish;
	const struct msd_out *out;
	struct msd_cur names; /* of filled outputs and results */
	uint32_t n_told, n_unnamed, n_wished;
	bool is_told[MSD_MAX_TENSORS]; /* true for requested outputs that are written */
	struct msd_diag *d;
};

/* The bytes of the tensor @t, which are one piece of the frame. */
static const uint8_t *find_bytes(const struct msd_out *o,
				 const struct msd_wire_tensor *t)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < o->n_pieces; i++) {
		if (at == t->offset && o->pieces[i].iov_len == t->bytes)
			return o->pieces[i].iov_base;
		at += o->pieces[i].iov_len;
	}
	return NULL;
}

/* The options of the requested output @name; NULL if it is not requested. */
static const struct msd_infer_output *find_wish(const struct telling *t,
						struct msd_span name)
{
	const struct msd_infer_ask *ask = t->wish->ask;

	for (uint32_t i = 0; i < ask->n_outputs; i++) {
		const struct msd_infer_output *o = &ask->outputs[i];
		if (o->name.n == name.n && memcmp(o->name.p, name.p, name.n) == 0)
			return o;
	}
	return NULL;
}

static void put_head(struct msd_buf *b, struct msd_span name,
		     const struct msd_wire_tensor *w)
{
	const char *datatype = msd_datatype_name(w->dtype);
	char text[MSD_DTYPE_NAME_MAX];

	msd_text_put(b, "{\"name\":");
	msd_json_str(b, name);
	msd_text_put(b, ",\"datatype\":\"");
	msd_text_put(b, datatype != NULL ? datatype : msd_dtype_format(w->dtype, text));
	msd_text_put(b, "\",\"shape\":[");
	for (uint32_t i = 0; i < w->ndim; i++) {
		if (i > 0)
			msd_text_put(b, ",");
		msd_text_decimal(b, (uint64_t)w->shape[i]);
	}
	msd_text_put(b, "]");
}

static msd_err put_binary(struct telling *t, const struct msd_wire_tensor *w,
			  const uint8_t *bytes)
{
	struct msd_infer_answer *a = t->answer;

	msd_text_put(&a->text, ",\"parameters\":{\"binary_data_size\":");
	msd_text_decimal(&a->text, w->bytes);
	msd_text_put(&a->text, "}}");
	a->has_tensors = true;
	if (w->bytes == 0)
		return MSD_OK;
	if (!msd_grow(&a->tail, a->n_tail, sizeof(*a->tail)))
		return msd_diag_no_memory(t->d);
	/* iovec has no const; writev does not write. */
	a->tail[a->n_tail++] = (struct iovec){.iov_base = (void *)(uintptr_t)bytes,
					      .iov_len = (size_t)w->bytes};
	a->tail_bytes += w->bytes;
	return MSD_OK;
}

static msd_err put_json(struct telling *t, const struct msd_wire_tensor *w,
			const uint8_t *bytes)
{
	struct msd_buf *b = &t->answer->text;
	uint64_t n;

	if (!msd_shape_elements(w->shape, w->ndim, &n))
		return msd_diag_set(t->d, MSD_INTERNAL, "a result's shape");
	msd_text_put(b, ",\"data\":");
	msd_err err =
		msd_infer_data_write(w->dtype, bytes, n, t->wish->max_json, b, t->d);
	msd_text_put(b, "}");
	return err;
}

static msd_err put_output(struct telling *t, struct msd_span name, struct msd_span ext)
{
	const struct msd_infer_output *wish = find_wish(t, name);
	struct msd_wire_tensor w;
	msd_err err = msd_wire_tensor_read(ext.p, ext.n, &w, t->d);

	if (err != MSD_OK)
		return msd_diag_wrap(t->d, MSD_INTERNAL, "a result");
	const uint8_t *bytes = w.bytes > 0 ? find_bytes(t->out, &w) : ext.p;
	if (bytes == NULL)
		return msd_diag_set(t->d, MSD_INTERNAL, "a result without its bytes");
	if (t->wish->ask->n_outputs > 0 && wish == NULL)
		return MSD_OK;
	if (wish != NULL)
		t->is_told[wish - t->wish->ask->outputs] = true;
	t->n_wished += wish != NULL;
	if (t->n_told++ > 0)
		msd_text_put(&t->answer->text, ",");
	put_head(&t->answer->text, name, &w);
	err = (wish != NULL ? wish->is_binary : t->wish->ask->is_binary)
		      ? put_binary(t, &w, bytes)
		      : put_json(t, &w, bytes);
	return err == MSD_OK ? MSD_OK
			     : msd_diag_wrap(t->d, err, "output %.*s", (int)name.n,
					     (const char *)name.p);
}

/* A filled output has the name of its parameter; a result has the name in the model,
 * or a number. */
static struct msd_span next_name(struct telling *t, char room[32])
{
	if (!msd_cur_end(&t->names)) {
		const uint32_t n = msd_cur_u32(&t->names);
		return (struct msd_span){msd_cur_read(&t->names, n), n};
	}
	const int n = snprintf(room, 32, "output%u", t->n_unnamed++);
	return (struct msd_span){(const uint8_t *)room, (size_t)n};
}

/* A tensor, or a tuple of tensors; nil adds no output. */
static msd_err put_value(struct telling *t, struct msd_cur *c)
{
	struct msd_cur items = *c;
	struct msd_wire_value v;
	uint32_t n = 1;
	char room[32];
	msd_err err = msd_value_read(c, &v, t->d);

	if (err != MSD_OK || v.kind == MSD_K_NIL)
		return err;
	if (v.kind == MSD_K_TUPLE) {
		n = v.as.tuple.n;
		items = msd_cur_of(v.as.tuple.items);
	}
	for (uint32_t i = 0; i < n && err == MSD_OK; i++) {
		err = msd_value_read(&items, &v, t->d);
		if (err == MSD_OK && v.kind != MSD_K_TENSOR) {
			return msd_infer_wrong_as(t->d, MSD_UNSUPPORTED, "output",
						  next_name(t, room),
						  "it is a %s, which this protocol "
						  "cannot express: call it with modser",
						  msd_kind_name(v.kind));
		}
		if (err == MSD_OK)
			err = put_output(t, next_name(t, room), v.as.tensor);
	}
	return err;
}

/* The first requested output that does not exist. */
static struct msd_span first_missing(const struct telling *t)
{
	uint32_t i = 0;

	while (i + 1 < t->wish->ask->n_outputs && t->is_told[i])
		i++;
	return t->wish->ask->outputs[i].name;
}

static msd_err tell(struct telling *t, struct msd_span result)
{
	struct msd_buf *b = &t->answer->text;
	struct msd_cur items;
	uint32_t n;

	if (!msd_array_open(result, &items, &n) || n != 2)
		return msd_diag_set(t->d, MSD_INTERNAL, "a malformed result");
	msd_text_put(b, "{\"model_name\":");
	msd_json_str(b, t->wish->model);
	msd_text_put(b, ",\"model_version\":\"" MSD_MODEL_VERSION "\"");
	if (t->wish->ask->id.p != NULL) {
		msd_text_put(b, ",\"id\":");
		msd_json_str(b, t->wish->ask->id);
	}
	msd_text_put(b, ",\"outputs\":[");
	msd_err err = put_value(t, &items);
	if (err == MSD_OK)
		err = put_value(t, &items);
	msd_text_put(b, "]}");
	if (err == MSD_OK && t->n_wished < t->wish->ask->n_outputs) {
		return msd_infer_wrong(
			t->d, "output", first_missing(t),
			"the model has no such output; omit outputs to get all");
	}
	return err == MSD_OK && b->bad ? msd_diag_no_memory(t->d) : err;
}

bool msd_infer_wish_has_json(const struct msd_infer_wish *w)
{
	bool has_json = w->ask->n_outputs == 0 && !w->ask->is_binary;

	for (uint32_t i = 0; i < w->ask->n_outputs; i++)
		has_json = has_json || !w->ask->outputs[i].is_binary;
	return has_json;
}

bool msd_infer_result_is_large(const struct msd_infer_wish *w, const struct msd_out *o)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < o->n_pieces; i++)
		bytes += o->pieces[i].iov_len;
	return bytes > AT_ONCE_BYTES && msd_infer_wish_has_json(w);
}

void msd_infer_answer_finish(struct msd_infer_answer *a)
{
	msd_buf_finish(&a->text);
	free(a->tail);
	*a = (struct msd_infer_answer){0};
}

msd_err msd_infer_result(const struct msd_infer_wish *w, const struct msd_out *o,
			 struct msd_infer_answer *ret, struct msd_diag *d)
{
	const struct msd_buf *names = &w->call->out_names;
	struct telling t = {.answer = ret,
			    .wish = w,
			    .out = o,
			    .names = msd_cur_of((struct msd_span){names->p, names->n}),
			    .n_unnamed = w->call->n_returned,
			    .d = d};
	struct msd_body_error error;
	struct msd_body body;
	msd_err err =
		msd_body_read((struct msd_span){o->body.p + MSD_FRAME_HEADER_BYTES,
						o->body.n - MSD_FRAME_HEADER_BYTES},
			      NULL, &body, d);

	if (err != MSD_OK)
		return err;
	if (msd_body_error_read(body.error, &error)) {
		return msd_diag_set_bytes(d, error.code, (const char *)error.message.p,
					  error.message.n);
	}
	return tell(&t, body.result);
}
