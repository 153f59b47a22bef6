/*
 * Happy path: each parameter of the function, in order, gets the input of its name.
 * If the function fills its outputs, parameters without an input are outputs;
 * infer_shape.h determines their shapes. If the parameters are not known, the inputs
 * are used in order. Failures name the tensor.
 */
#include "daemon/supervisor/http/infer/infer_make.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/http/infer_data.h"
#include "daemon/http/infer_json.h"
#include "daemon/limits.h"
#include "daemon/supervisor/http/infer/infer_shape.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/workers/signature.h"
#include "daemon/supervisor/request/call_template.h"
#include "proto/limits.h"
#include "proto/value.h"

struct making {
	const struct msd_model *model;
	const struct msd_infer_ask *ask;
	const struct msd_limits *limits;
	struct msd_infer_extents *extents; /* determined by the inputs */
	struct msd_buf *inlines;
	struct msd_infer_call *call;
	struct msd_diag *d;
};

static msd_err wrong(const struct making *k, struct msd_span name, const char *what,
		     const char *more)
{
	return msd_infer_wrong(k->d, "input", name, "%s%s", what, more);
}

/* The input of parameter @i, usually at the same position. NULL: it is missing. */
static const struct msd_infer_input *find_input(const struct making *k, uint32_t i)
{
	const struct msd_infer_ask *ask = k->ask;
	const struct msd_span name = k->model->function->params[i].name;

	if (i < ask->n_inputs && msd_span_same(ask->inputs[i].name, name))
		return &ask->inputs[i];
	for (uint32_t at = 0; at < ask->n_inputs; at++) {
		if (msd_span_same(ask->inputs[at].name, name))
			return &ask->inputs[at];
	}
	return NULL;
}

static msd_err check_input(const struct making *k, const struct msd_signature_param *p,
			   const struct msd_infer_input *t)
{
	if (p->has_dtype && !msd_dtype_eq(p->dtype, t->dtype)) {
		const char *name = msd_datatype_name(p->dtype);
		return wrong(k, t->name, "its datatype is not the model's, ",
			     name != NULL ? name : "which has none here");
	}
	return msd_infer_shape_check(k->extents, p, t, k->d);
}

/* Check all inputs before a shape of an output is derived. */
static msd_err check_inputs(const struct making *k)
{
	const struct msd_function_signature *f = k->model->function;
	msd_err err = MSD_OK;

	for (uint32_t i = 0; err == MSD_OK && i < f->n_params; i++) {
		const struct msd_infer_input *t = find_input(k, i);
		if (t != NULL)
			err = check_input(k, &f->params[i], t);
	}
	return err;
}

/* Inputs and outputs share one memory limit. */
static msd_err claim(const struct making *k, const char *what, struct msd_span name,
		     uint64_t bytes)
{
	const uint64_t most = k->limits->max_memory;

	if (bytes > most - k->call->claimed_bytes || bytes == UINT64_MAX) {
		return msd_infer_wrong_as(
			k->d, MSD_TOO_LARGE, what, name,
			"its %llu bytes, with the %llu of the tensors before it, are "
			"more than the %llu of --max-memory",
			(unsigned long long)bytes,
			(unsigned long long)k->call->claimed_bytes,
			(unsigned long long)most);
	}
	k->call->claimed_bytes += bytes;
	return MSD_OK;
}

/* Reserve room in the payload, with the layout of frames. */
static msd_err take_place(const struct making *k, const struct msd_infer_input *t)
{
	struct msd_infer_call *c = k->call;
	struct msd_infer_place *place = &c->places[t - k->ask->inputs];

	const uint64_t most = k->limits->max_payload;
	const uint64_t before = c->payload_bytes;

	place->input = t;
	place->offset = before;
	if (before > most || t->bytes > most - before) {
		return msd_infer_wrong_as(
			k->d, MSD_TOO_LARGE, "input", t->name,
			"its %llu bytes, with the %llu of the inputs before it, are "
			"more than the %llu of --max-payload",
			(unsigned long long)t->bytes, (unsigned long long)before,
			(unsigned long long)most);
	}
	c->payload_bytes += t->bytes;
	c->payload_bytes += -c->payload_bytes & (MSD_TENSOR_ALIGN - 1u);
	return claim(k, "input", t->name, c->payload_bytes - before);
}

static void pack_tensor(const struct making *k, const struct msd_wire_tensor *w)
{
	struct msd_buf *params = &k->call->params;

	msd_pack_tensor(params, w);
	if (w->where != MSD_AT_INLINE)
		return;
	const struct msd_inline in = {
		(uint32_t)(params->n - MSD_WIRE_TENSOR_BYTES - 8 * w->ndim),
		w->bytes > 0 ? w->offset : 0};
	msd_buf_put(k->inlines, &in, sizeof(in));
}

/* Two parameters of the same name use the same input. */
static msd_err put_tensor(const struct making *k, const struct msd_infer_input *t)
{
	const bool has_place = k->call->places[t - k->ask->inputs].input != NULL;
	msd_err err = has_place ? MSD_OK : take_place(k, t);
	struct msd_wire_tensor w = {.where = MSD_AT_INLINE,
				    .dtype = t->dtype,
				    .offset =
					    k->call->places[t - k->ask->inputs].offset,
				    .bytes = t->bytes,
				    .ndim = t->ndim};

	memcpy(w.shape, t->shape, t->ndim * sizeof(*w.shape));
	pack_tensor(k, &w);
	return err;
}

static void pack_number(struct msd_buf *out, struct msd_dtype t, const uint8_t bytes[8])
{
	const unsigned unused = 64u - t.bits;
	const uint64_t low = msd_le64(bytes) << unused;
	double wide;
	float narrow;

	if (t.code == MSD_DT_FLOAT && t.bits == 64) {
		memcpy(&wide, bytes, sizeof(wide));
		msd_pack_float(out, wide);
	} else if (t.code == MSD_DT_FLOAT) {
		memcpy(&narrow, bytes, sizeof(narrow));
		msd_pack_float(out, (double)narrow);
	} else if (t.code == MSD_DT_BOOL) {
		msd_pack_bool(out, *bytes != 0);
	} else if (t.code == MSD_DT_INT) {
		msd_pack_int(out, (int64_t)low >> unused);
	} else {
		msd_pack_uint(out, low >> unused);
	}
}

/* A scalar parameter needs no room in the payload. */
static msd_err put_scalar(const struct making *k, const struct msd_infer_input *t)
{
	uint8_t bytes[8] = {0};

	if (!t->has_data || t->n_elements != 1)
		return wrong(k, t->name, "it is one number, with data in the JSON", "");
	memcpy(bytes, k->ask->values.p + t->from, (size_t)t->bytes);
	pack_number(&k->call->params, t->dtype, bytes);
	return MSD_OK;
}

static msd_err put_value(const struct making *k, const struct msd_signature_param *p,
			 const struct msd_infer_input *t)
{
	switch (p->kind) {
	case MSD_SIGNATURE_NUMBER:
		return put_scalar(k, t);
	case MSD_SIGNATURE_OBJECT:
		return msd_infer_wrong_as(k->d, MSD_UNSUPPORTED, "input", t->name,
					  "it is a %.*s, which this protocol cannot "
					  "express: call it with modser",
					  (int)p->type.n, (const char *)p->type.p);
	case MSD_SIGNATURE_TENSOR:
	default:
		return put_tensor(k, t);
	}
}

/* The name must live until the reply, which may replace the signature. */
static void put_name(struct msd_infer_call *c, const struct msd_signature_param *p)
{
	msd_buf_put_u32(&c->out_names, (uint32_t)p->name.n);
	msd_buf_put(&c->out_names, p->name.p, p->name.n);
}

static msd_err put_output(const struct making *k, const struct msd_signature_param *p)
{
	struct msd_wire_tensor w = {
		.where = MSD_AT_OUT, .dtype = p->dtype, .ndim = p->n_extents};
	struct msd_infer_call *c = k->call;
	uint64_t n;

	if (p->kind != MSD_SIGNATURE_TENSOR || !p->has_dtype || !p->has_shape)
		return wrong(k, p->name, "it is missing", "");
	for (uint32_t i = 0; i < w.ndim; i++)
		w.shape[i] = p->extents[i].value;
	msd_err err = msd_infer_shape_complete(k->extents, p, k->ask, &w, k->d);
	if (err != MSD_OK)
		return err;
	if (!msd_shape_elements(w.shape, w.ndim, &n) ||
	    !msd_dtype_bytes(w.dtype, n, &w.bytes))
		w.bytes = UINT64_MAX;
	err = claim(k, "output", p->name, w.bytes);
	if (err != MSD_OK)
		return err;
	err = msd_wire_dtype_check(w.dtype, k->d);
	if (err != MSD_OK)
		return msd_diag_wrap(k->d, err, "tensor");
	pack_tensor(k, &w);
	c->out_bytes += w.bytes;
	put_name(c, p);
	return MSD_OK;
}

static void put_results(const struct making *k)
{
	const struct msd_function_signature *f = k->model->function;

	for (uint32_t i = 0; i < f->n_results; i++)
		put_name(k->call, &f->results[i]);
	k->call->n_returned = f->n_results;
}

static bool is_param(const struct msd_function_signature *f, struct msd_span name)
{
	for (uint32_t i = 0; i < f->n_params; i++) {
		if (msd_span_same(f->params[i].name, name))
			return true;
	}
	return false;
}

/* Reject the first input that matches no parameter; MSD_INTERNAL: all inputs match. */
static msd_err name_unknown(const struct making *k)
{
	struct msd_buf names = {0};
	uint32_t i = 0;

	while (i < k->ask->n_inputs &&
	       is_param(k->model->function, k->ask->inputs[i].name))
		i++;
	if (i == k->ask->n_inputs)
		return MSD_INTERNAL;
	msd_model_put_names(k->model, &names);
	msd_buf_put_u8(&names, 0);
	const msd_err err = wrong(k, k->ask->inputs[i].name,
				  "the model has no such input; its parameters are: ",
				  names.bad ? "" : (const char *)names.p);
	msd_buf_finish(&names);
	return err;
}

static msd_err put_params(const struct making *k)
{
	const struct msd_function_signature *f = k->model->function;
	uint32_t n_used = 0;
	msd_err err = check_inputs(k);

	for (uint32_t i = 0; err == MSD_OK && i < f->n_params; i++) {
		const struct msd_infer_input *t = find_input(k, i);
		if (t == NULL && f->params[i].is_optional) {
			msd_pack_nil(&k->call->params);
			continue;
		}
		if (t == NULL && !f->is_prim) {
			err = name_unknown(k); /* probably misspelled, not missing */
			return err != MSD_INTERNAL ? err
						   : wrong(k, f->params[i].name,
							   "it is missing", "");
		}
		if (t == NULL) {
			err = put_output(k, &f->params[i]);
			continue;
		}
		n_used += !k->call->places[t - k->ask->inputs].is_used;
		k->call->places[t - k->ask->inputs].is_used = true;
		err = put_value(k, &f->params[i], t);
	}
	return err == MSD_OK && n_used < k->ask->n_inputs ? name_unknown(k) : err;
}

static void put_text(struct msd_buf *out, struct msd_span module,
		     struct msd_span function)
{
	struct msd_buf target = {0};

	msd_buf_put(&target, module.p, module.n);
	msd_buf_put(&target, ":", 1);
	msd_buf_put(&target, function.p, function.n);
	msd_pack_str(out, (const char *)target.p, target.n);
	out->bad |= target.bad;
	msd_buf_finish(&target);
}

void msd_infer_put_target(struct msd_buf *out, struct msd_span name,
			  const struct msd_model *m)
{
	const struct msd_span module = msd_model_module_name(name);
	struct msd_span function = msd_span_of("main");

	if (module.n < name.n) {
		function =
			(struct msd_span){name.p + module.n + 1, name.n - module.n - 1};
	} else if (m != NULL && m->function != NULL) {
		function = m->function->name;
	}
	msd_pack_array(out, 1);
	put_text(out, module, function);
}

static void put_target(const struct making *k, uint32_t n_args)
{
	msd_pack_array(&k->call->params, 1u + n_args);
	put_text(&k->call->params, msd_span_of(k->model->module->group.name),
		 k->model->function->name);
}

/* By position: their names are not known. */
static msd_err put_unknown(const struct making *k)
{
	msd_err err = MSD_OK;

	put_target(k, k->ask->n_inputs);
	for (uint32_t i = 0; i < k->ask->n_inputs && err == MSD_OK; i++)
		err = put_tensor(k, &k->ask->inputs[i]);
	return err;
}

static bool open_places(struct msd_infer_call *c, const struct msd_infer_ask *ask)
{
	*c = (struct msd_infer_call){.n_places = ask->n_inputs};
	c->places = calloc(ask->n_inputs + 1u, sizeof(*c->places));
	c->pieces = calloc(ask->n_inputs + 1u, sizeof(*c->pieces));
	return c->places != NULL && c->pieces != NULL;
}

msd_err msd_infer_make(const struct msd_model *m, const struct msd_infer_ask *ask,
		       const struct msd_limits *limits, struct msd_buf *inlines,
		       struct msd_infer_call *ret, struct msd_diag *d)
{
	struct msd_infer_extents extents;
	const struct making k = {.model = m,
				 .ask = ask,
				 .limits = limits,
				 .extents = &extents,
				 .inlines = inlines,
				 .call = ret,
				 .d = d};
	msd_err err;

	msd_infer_extents_init(&extents, m->function);
	inlines->n = 0;
	if (!open_places(ret, ask))
		return msd_diag_no_memory(d);
	if (m->function->has_params) {
		put_target(&k, m->function->n_params);
		err = put_params(&k);
		put_results(&k);
	} else {
		err = put_unknown(&k);
	}
	if (err == MSD_OK && (ret->params.bad || ret->out_names.bad || inlines->bad))
		return msd_diag_no_memory(d);
	return err;
}

void msd_infer_call_finish(struct msd_infer_call *c)
{
	msd_buf_finish(&c->params);
	msd_buf_finish(&c->out_names);
	free(c->places);
	free(c->pieces);
	*c = (struct msd_infer_call){0};
}
