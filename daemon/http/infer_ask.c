/*
 * Happy path: jansson parses the text, each input is checked, and the sizes of the
 * binary inputs are added up. Failures: the first error is reported with its tensor.
 * Unsupported features (shared memory, classification) are refused, because the
 * response would not be the requested one.
 */
#include "daemon/http/infer_ask.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/http/infer_data.h"
#include "daemon/http/infer_json.h"
#include "proto/limits.h"

/* The member @key of an object. A member that is null counts as absent. */
static const json_t *member(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_null(value) ? NULL : value;
}

static struct msd_span text_of(const json_t *j)
{
	return (struct msd_span){(const uint8_t *)json_string_value(j),
				 json_string_length(j)};
}

static msd_err read_name(const json_t *tensor, const char *what, struct msd_span *ret,
			 struct msd_diag *d)
{
	const json_t *name = member(tensor, "name");
	const json_t *parameters = member(tensor, "parameters");

	if (json_string_length(name) == 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: each is an object with a name", what);
	}
	*ret = text_of(name);
	if (memchr(ret->p, '\0', ret->n) != NULL) {
		return msd_infer_wrong(d, what, *ret, /* at most that many bytes */
				       "its name contains a NUL");
	}
	if (parameters != NULL && !json_is_object(parameters)) {
		return msd_infer_wrong(d, what, *ret,
				       "its parameters are not an object");
	}
	if (member(parameters, "shared_memory_region") != NULL) {
		return msd_infer_wrong(d, what, *ret,
				       "shared memory is not supported over HTTP");
	}
	return MSD_OK;
}

static msd_err read_extent(const json_t *json, size_t i, const char *what,
			   struct msd_span name, int64_t *ret, struct msd_diag *d)
{
	if (json_is_integer(json) && json_integer_value(json) >= 0) {
		*ret = json_integer_value(json);
		return MSD_OK;
	}
	if (json_is_integer(json)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s %.*s: extent %zu of its shape is %lld; "
				    "extents are not negative",
				    what, (int)name.n, (const char *)name.p, i,
				    (long long)json_integer_value(json));
	}
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "%s %.*s: extent %zu of its shape is no whole number in "
			    "the range of 0 to 2^63 - 1",
			    what, (int)name.n, (const char *)name.p, i);
}

static msd_err read_shape(const json_t *shape, const char *what, struct msd_span name,
			  uint32_t *ret_ndim, int64_t ret[MSD_MAX_NDIM],
			  struct msd_diag *d)
{
	const size_t n = json_array_size(shape);
	msd_err err = MSD_OK;

	if (shape == NULL)
		return msd_infer_wrong(d, what, name, "it has no shape");
	if (!json_is_array(shape))
		return msd_infer_wrong(d, what, name, "its shape is no array");
	if (n > MSD_MAX_NDIM)
		return msd_infer_wrong(d, what, name, "its shape has over 32 extents");
	for (size_t i = 0; i < n && err == MSD_OK; i++) {
		err = read_extent(json_array_get(shape, i), i, what, name, &ret[i], d);
	}
	*ret_ndim = (uint32_t)n;
	return err;
}

/* State of the parser. */
struct reading {
	struct msd_infer_ask *ask;
	const json_t *json;
	bool has_wide;                    /* parsed JSON */
	size_t text_bytes;                /* of the JSON */
	uint64_t behind_at, behind_bytes; /* offset after the JSON; total bytes there */
	struct msd_diag *d;
};

/* The text must contain as many elements as its shape has, or it is refused earlier. */
static msd_err read_data(struct reading *r, const json_t *data,
			 struct msd_infer_input *t)
{
	struct msd_buf *values = &r->ask->values;

	t->from = values->n;
	if (!msd_buf_reserve(values, (size_t)t->bytes))
		return msd_diag_no_memory(r->d);
	const msd_err err =
		msd_infer_data_read(t, data, r->has_wide, values->p + values->n, r->d);
	values->n += err == MSD_OK ? (size_t)t->bytes : 0;
	return err;
}

/* Find the tensor's bytes: in the JSON, or after it. */
static msd_err read_place(struct reading *r, const json_t *tensor,
			  struct msd_infer_input *t)
{
	struct msd_diag *d = r->d;
	const json_t *data = member(tensor, "data"); /* kserve sends null */
	const json_t *size = member(member(tensor, "parameters"), "binary_data_size");

	t->has_data = data != NULL;
	if (data == NULL && size == NULL && t->n_elements == 0) { /* empty tensor */
		t->has_data = true;
		t->from = r->ask->values.n;
		return MSD_OK;
	}
	if (t->has_data == (size != NULL)) {
		return msd_infer_wrong(d, "input", t->name,
				       "expected data or binary_data_size");
	}
	if (t->has_data && t->n_elements > r->text_bytes) {
		return msd_infer_wrong(d, "input", t->name,
				       "fewer data than its shape says");
	}
	if (t->has_data)
		return read_data(r, data, t);
	if (!json_is_integer(size) || json_integer_value(size) < 0 ||
	    (uint64_t)json_integer_value(size) != t->bytes) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "input %.*s: binary_data_size is not the %llu "
				    "bytes of its datatype and shape",
				    (int)t->name.n, (const char *)t->name.p,
				    (unsigned long long)t->bytes);
	}
	if (t->bytes > r->behind_bytes - r->behind_at) {
		return msd_infer_wrong(d, "input", t->name,
				       "it needs more bytes than follow the JSON");
	}
	t->from = (size_t)r->behind_at;
	r->behind_at += t->bytes;
	return MSD_OK;
}

static msd_err read_input(struct reading *r, const json_t *tensor,
			  struct msd_infer_input *t)
{
	struct msd_diag *d = r->d;
	msd_err err = read_name(tensor, "input", &t->name, d);

	if (err != MSD_OK)
		return err;
	if (!msd_datatype_read(text_of(member(tensor, "datatype")), &t->dtype)) {
		return msd_infer_wrong(d, "input", t->name,
				       "its datatype: expected BOOL, UINT8 to UINT64, "
				       "INT8 to INT64, FP16, FP32, FP64 or BF16");
	}
	err = read_shape(member(tensor, "shape"), "input", t->name, &t->ndim, t->shape,
			 d);
	if (err != MSD_OK)
		return err;
	if (!msd_shape_elements(t->shape, t->ndim, &t->n_elements) ||
	    !msd_dtype_bytes(t->dtype, t->n_elements, &t->bytes) ||
	    t->bytes > MSD_MAX_PAYLOAD_BYTES) {
		return msd_infer_wrong(d, "input", t->name,
				       "its shape has more bytes than a request may "
				       "have");
	}
	return read_place(r, tensor, t);
}

static msd_err read_output(const json_t *tensor, struct msd_infer_output *t,
			   struct msd_diag *d)
{
	const json_t *parameters = member(tensor, "parameters");
	const json_t *shape = member(parameters, "shape");
	const json_t *binary = member(parameters, "binary_data");
	msd_err err = read_name(tensor, "output", &t->name, d);

	if (err != MSD_OK)
		return err;
	if (member(parameters, "classification") != NULL) {
		return msd_infer_wrong(d, "output", t->name,
				       "classification is not supported");
	}
	if (binary != NULL && !json_is_boolean(binary)) {
		return msd_infer_wrong(d, "output", t->name,
				       "binary_data is true or false");
	}
	if (binary != NULL)
		t->is_binary = json_is_true(binary);
	t->has_shape = shape != NULL;
	return t->has_shape
		       ? read_shape(shape, "output", t->name, &t->ndim, t->shape, d)
		       : MSD_OK;
}

/* The array @key of @json, with at most @most elements. */
static msd_err open_list(const json_t *json, const char *key, const json_t **ret,
			 uint32_t *ret_n, struct msd_diag *d)
{
	*ret = member(json, key);
	*ret_n = (uint32_t)json_array_size(*ret);
	if ((*ret == NULL || json_is_array(*ret)) &&
	    json_array_size(*ret) <= MSD_MAX_TENSORS)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST, "%s: expected an array of at most %u",
			    key, MSD_MAX_TENSORS);
}

/* A duplicate name is ambiguous, so refuse it. */
static msd_err check_single(struct msd_span name, struct msd_span other,
			    const char *what, struct msd_diag *d)
{
	if (name.p == NULL || other.p == NULL || name.n != other.n ||
	    memcmp(name.p, other.p, name.n) != 0)
		return MSD_OK;
	return msd_infer_wrong(d, what, name, "it is given twice");
}

static msd_err read_inputs(struct reading *r)
{
	struct msd_infer_ask *a = r->ask;
	struct msd_diag *d = r->d;
	const json_t *list;
	msd_err err = open_list(r->json, "inputs", &list, &a->n_inputs, d);

	if (err != MSD_OK)
		return err;
	a->inputs = calloc(a->n_inputs + 1u, sizeof(*a->inputs));
	if (a->inputs == NULL)
		return msd_diag_no_memory(d);
	for (uint32_t i = 0; i < a->n_inputs; i++) {
		err = read_input(r, json_array_get(list, i), &a->inputs[i]);
		for (uint32_t j = 0; j < i && err == MSD_OK; j++) {
			err = check_single(a->inputs[i].name, a->inputs[j].name,
					   "input", d);
		}
		if (err != MSD_OK)
			return err;
	}
	if (r->behind_at < r->behind_bytes) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"%llu bytes after the JSON belong to no input",
			(unsigned long long)(r->behind_bytes - r->behind_at));
	}
	return MSD_OK;
}

static msd_err read_outputs(const struct reading *r)
{
	struct msd_infer_ask *a = r->ask;
	struct msd_diag *d = r->d;
	const json_t *list;
	msd_err err = open_list(r->json, "outputs", &list, &a->n_outputs, d);

	if (err != MSD_OK)
		return err;
	a->outputs = calloc(a->n_outputs + 1u, sizeof(*a->outputs));
	if (a->outputs == NULL)
		return msd_diag_no_memory(d);
	for (uint32_t i = 0; i < a->n_outputs; i++) {
		a->outputs[i].is_binary = a->is_binary;
		err = read_output(json_array_get(list, i), &a->outputs[i], d);
		for (uint32_t j = 0; j < i && err == MSD_OK; j++) {
			err = check_single(a->outputs[i].name, a->outputs[j].name,
					   "output", d);
		}
		if (err != MSD_OK)
			return err;
	}
	return MSD_OK;
}

static msd_err read_own(const struct reading *r)
{
	struct msd_infer_ask *a = r->ask;
	struct msd_diag *d = r->d;
	const json_t *id = member(r->json, "id");
	const json_t *parameters = member(r->json, "parameters");
	const json_t *binary = member(parameters, "binary_data_output");
	const json_t *deadline = member(parameters, "deadline_ms");

	if (!json_is_object(r->json) || (id != NULL && !json_is_string(id)) ||
	    (parameters != NULL && !json_is_object(parameters))) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"the request: expected an object with inputs, and at "
			"most an id, parameters and outputs");
	}
	if (binary != NULL && !json_is_boolean(binary)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "binary_data_output is true or false");
	}
	if (deadline != NULL &&
	    (!json_is_integer(deadline) || json_integer_value(deadline) < 0 ||
	     json_integer_value(deadline) > UINT32_MAX)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "deadline_ms: expected a number of milliseconds, "
				    "at most 2^32 - 1");
	}
	if (id != NULL)
		a->id = text_of(id);
	a->is_binary = json_is_true(binary);
	a->has_deadline = deadline != NULL;
	a->deadline_ms = (uint32_t)json_integer_value(deadline);
	return MSD_OK;
}

/* Copy @s to @at; returns where the next copy may start. */
static uint8_t *keep(uint8_t *at, struct msd_span *s)
{
	if (s->n > 0)
		memcpy(at, s->p, s->n);
	if (s->p != NULL)
		s->p = at;
	return at + s->n;
}

/* Copy the strings that are still needed: the parsed JSON, many times as large as its
 * text, is freed. */
msd_err msd_infer_ask_settle(struct msd_infer_ask *a, struct msd_diag *d)
{
	size_t n = a->id.n;

	for (uint32_t i = 0; i < a->n_inputs; i++)
		n += a->inputs[i].name.n;
	for (uint32_t i = 0; i < a->n_outputs; i++)
		n += a->outputs[i].name.n;
	a->kept = malloc(n + 1);
	if (a->kept == NULL)
		return msd_diag_no_memory(d);
	a->n_kept = n;
	uint8_t *at = keep(a->kept, &a->id);
	for (uint32_t i = 0; i < a->n_inputs; i++)
		at = keep(at, &a->inputs[i].name);
	for (uint32_t i = 0; i < a->n_outputs; i++)
		at = keep(at, &a->outputs[i].name);
	return MSD_OK;
}

static msd_err read_all(struct reading *r)
{
	msd_err err = read_own(r);

	if (err == MSD_OK)
		err = read_inputs(r);
	if (err == MSD_OK)
		err = read_outputs(r);
	return err == MSD_OK ? msd_infer_ask_settle(r->ask, r->d) : err;
}

msd_err msd_infer_ask_read(struct msd_infer_ask *ret, struct msd_span text,
			   uint64_t behind_bytes, struct msd_diag *d)
{
	struct reading r = {
		.ask = ret, .text_bytes = text.n, .behind_bytes = behind_bytes, .d = d};

	*ret = (struct msd_infer_ask){0};
	if (text.n == 0) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"the body is empty: expected JSON, {\"inputs\": [...]}");
	}
	json_t *json;
	msd_err err = msd_infer_json_load(text, &json, &r.has_wide, d);
	if (err != MSD_OK)
		return err;
	r.json = json;
	err = read_all(&r);
	json_decref(json);
	if (err != MSD_OK)
		msd_infer_ask_finish(ret);
	return err;
}

size_t msd_infer_ask_bytes(const struct msd_infer_ask *a)
{
	return a->n_kept + a->values.cap + a->n_inputs * sizeof(*a->inputs) +
	       a->n_outputs * sizeof(*a->outputs);
}

void msd_infer_ask_finish(struct msd_infer_ask *a)
{
	msd_buf_finish(&a->values);
	free(a->kept);
	free(a->inputs);
	free(a->outputs);
	*a = (struct msd_infer_ask){0};
}
