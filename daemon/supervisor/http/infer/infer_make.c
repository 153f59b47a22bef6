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
#include "proto/limits.h"
#include "proto/value.h"

#define CALL "call"

struct making {
	const struct msd_model *model;
	const struct msd_infer_ask *ask;
	const struct msd_limits *limits;
	struct msd_infer_extents *extents; /* determined by the inputs */
	struct msd_infer_call *call;
	struct msd_diag *d;
};

static msd_err wrong(const struct making *k, struct msd_span name, const char *what,
		     const char *more)
{
	return msd_infer_wrong(k->d, "input", name, "%s%s", what, more);
}

static const struct msd_infer_input *find_input(const struct making *k,
						struct msd_span name)
{
	for (uint32_t i = 0; i < k->ask->n_inputs; i++) {
		if (msd_span_same(k->ask->inputs[i].name, name))
			return &k->ask->inputs[i];
	}
	return NULL;
}

static msd_err check_input(const struct making *k, const struct msd_model_param *p,
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
	struct msd_model_param p;
	struct msd_model_walk w;
	msd_err err = MSD_OK;

	if (!msd_model_open(k->model, &w))
		return MSD_OK;
	while (err == MSD_OK && msd_model_next(&w, &p)) {
		const struct msd_infer_input *t = find_input(k, p.name);
		if (t != NULL)
			err = check_input(k, &p, t);
	}
	return err;
}

/* Inputs and outputs share one memory limit. */
static msd_err claim(const struct making *k, const char *what, struct msd_span name,
		     uint64_t bytes)
{
	const uint64_t most = k->limits->max_memory;

	if (bytes > most - k->call->claimed_bytes) {
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

	memcpy(w.shape, t->shape, sizeof(w.shape));
	msd_pack_tensor(&k->call->body, &w);
	k->call->n_tensors++;
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
	pack_number(&k->call->body, t->dtype, bytes);
	return MSD_OK;
}

/* The name must live until the reply, longer than the walk. */
static void put_name(struct msd_infer_call *c, const struct msd_model_param *p)
{
	msd_buf_put_u32(&c->out_names, (uint32_t)p->name.n);
	msd_buf_put(&c->out_names, p->name.p, p->name.n);
}

static msd_err put_output(const struct making *k, const struct msd_model_param *p)
{
	struct msd_wire_tensor w = {.where = MSD_AT_OUT, .dtype = p->dtype};
	struct msd_infer_call *c = k->call;
	uint64_t n;

	if (p->is_scalar || !p->has_dtype ||
	    !msd_model_read_extents(p->shape, &w.ndim, w.shape))
		return wrong(k, p->name, "it is missing", "");
	msd_err err = msd_infer_shape_complete(k->extents, p, k->ask, &w, k->d);
	if (err != MSD_OK)
		return err;
	if (!msd_shape_elements(w.shape, w.ndim, &n) ||
	    !msd_dtype_bytes(w.dtype, n, &w.bytes))
		w.bytes = UINT64_MAX;
	err = claim(k, "output", p->name, w.bytes);
	if (err != MSD_OK)
		return err;
	msd_pack_tensor(&c->body, &w);
	c->n_tensors++;
	put_name(c, p);
	return MSD_OK;
}

static void put_results(const struct making *k)
{
	struct msd_model_param p;
	struct msd_model_walk w;

	if (!msd_model_open_results(k->model, &w))
		return;
	for (; msd_model_next(&w, &p); k->call->n_returned++)
		put_name(k->call, &p);
}

/* Reject the first input that matches no parameter; MSD_INTERNAL: all inputs match. */
static msd_err name_unknown(const struct making *k)
{
	struct msd_model_param p;

	for (uint32_t i = 0; i < k->ask->n_inputs; i++) {
		struct msd_buf names = {0};
		struct msd_model_walk w;
		bool is_known = false;
		if (!msd_model_open(k->model, &w))
			break;
		while (!is_known && msd_model_next(&w, &p))
			is_known = msd_span_same(p.name, k->ask->inputs[i].name);
		if (is_known)
			continue;
		msd_model_put_names(k->model, &names);
		msd_buf_put_u8(&names, 0);
		const msd_err err =
			wrong(k, k->ask->inputs[i].name,
			      "the model has no such input; its parameters are: ",
			      names.bad ? "" : (const char *)names.p);
		msd_buf_finish(&names);
		return err;
	}
	return MSD_INTERNAL;
}

static msd_err put_params(const struct making *k, struct msd_model_walk *w)
{
	const bool is_prim = msd_model_is_prim(k->model);
	struct msd_model_param p;
	uint32_t n_used = 0;
	msd_err err = check_inputs(k);

	while (err == MSD_OK && msd_model_next(w, &p)) {
		const struct msd_infer_input *t = find_input(k, p.name);
		if (t == NULL && !is_prim) {
			err = name_unknown(k); /* probably misspelled, not missing */
			return err != MSD_INTERNAL
				       ? err
				       : wrong(k, p.name, "it is missing", "");
		}
		if (t == NULL) {
			err = put_output(k, &p);
			continue;
		}
		n_used += !k->call->places[t - k->ask->inputs].is_used;
		k->call->places[t - k->ask->inputs].is_used = true;
		err = p.is_scalar ? put_scalar(k, t) : put_tensor(k, t);
	}
	if (err == MSD_OK && n_used < k->ask->n_inputs)
		return MSD_NOT_FOUND;
	return err;
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
	} else if (m != NULL && m->function.n > 0) {
		function = msd_model_function_name(m);
	}
	msd_pack_array(out, 1);
	put_text(out, module, function);
}

static void put_target(const struct making *k, uint32_t n_args)
{
	msd_pack_array(&k->call->body, 1u + n_args);
	put_text(&k->call->body, msd_span_of(k->model->module->group.name),
		 msd_model_function_name(k->model));
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
	msd_body_begin_request(&c->body, 0, CALL, ask->has_deadline);
	c->params_at = c->body.n;
	c->places = calloc(ask->n_inputs + 1u, sizeof(*c->places));
	c->pieces = calloc(ask->n_inputs + 1u, sizeof(*c->pieces));
	return c->places != NULL && c->pieces != NULL;
}

msd_err msd_infer_make(const struct msd_model *m, const struct msd_infer_ask *ask,
		       const struct msd_limits *limits, struct msd_infer_call *ret,
		       struct msd_diag *d)
{
	struct msd_infer_extents extents;
	const struct making k = {.model = m,
				 .ask = ask,
				 .limits = limits,
				 .extents = &extents,
				 .call = ret,
				 .d = d};
	struct msd_model_walk w;
	msd_err err;

	extents.n = 0;
	if (!open_places(ret, ask))
		return msd_diag_no_memory(d);
	if (msd_model_open(m, &w)) {
		put_target(&k, w.n);
		err = put_params(&k, &w);
		if (err == MSD_NOT_FOUND)
			err = name_unknown(&k);
		put_results(&k);
	} else {
		err = put_unknown(&k);
	}
	ret->options_at = ret->body.n;
	if (ask->has_deadline) {
		msd_pack_map(&ret->body, 1);
		msd_pack_pair_uint(&ret->body, "deadline_ms", ask->deadline_ms);
	}
	if (err == MSD_OK && (ret->body.bad || ret->out_names.bad))
		return msd_diag_no_memory(d);
	return err;
}

struct msd_in msd_infer_in(const struct msd_infer_call *c, uint64_t id, uint64_t now_ms)
{
	return (struct msd_in){.body = {.kind = MSD_REQUEST,
					.id = id,
					.method = msd_span_of(CALL),
					.params = {c->body.p + c->params_at,
						   c->options_at - c->params_at},
					.options = {c->body.p + c->options_at,
						    c->body.n - c->options_at},
					.n_tensors = c->n_tensors},
			       .bytes = c->body.p,
			       .n_bytes = c->body.n,
			       .payload_bytes = c->payload_bytes,
			       .begun_ms = now_ms};
}

void msd_infer_call_finish(struct msd_infer_call *c)
{
	msd_buf_finish(&c->body);
	msd_buf_finish(&c->out_names);
	free(c->places);
	free(c->pieces);
	*c = (struct msd_infer_call){0};
}
