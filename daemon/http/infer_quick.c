/*
 * Happy path: the members of each object are read in any order; the numbers of an input
 * are converted when its type and shape are known. Failures: at the first byte that is
 * not of the usual form the reader gives up, and infer_ask.h reads the text again.
 */
#include "daemon/http/infer_quick.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/http/infer_data.h"
#include "daemon/http/infer_elements.h"
#include "proto/limits.h"

#define MOST_TENSORS 16u /* inputs, and outputs */

#define IS(s, text)                                                                    \
	((s).n == sizeof(text) - 1 && memcmp((s).p, text, sizeof(text) - 1) == 0)

struct quick {
	struct msd_infer_text in;
	struct msd_infer_ask *ask;
	uint64_t behind_at, behind_bytes;
	uint32_t n_inputs, n_outputs;
	struct msd_infer_input inputs[MOST_TENSORS];
	struct msd_infer_output outputs[MOST_TENSORS];
	bool has_binary[MOST_TENSORS]; /* the output says how it is sent */
};

/* Members of an object that were seen, as bits: none may come twice. */
enum member {
	NAME = 1,
	SHAPE = 2,
	DATATYPE = 4,
	DATA = 8,
	PARAMETERS = 16,
	SIZE = 32,
	INPUTS = 64,
	OUTPUTS = 128,
	ID = 256,
	BINARY = 512,
	DEADLINE = 1024
};

static bool see(unsigned *seen, enum member m)
{
	const bool is_first = (*seen & m) == 0;

	*seen |= m;
	return is_first;
}

static bool take_text(struct msd_infer_text *q, struct msd_span *ret)
{
	if (q->p == q->end || *q->p != '"')
		return false;
	ret->p = ++q->p;
	while (q->p < q->end && *q->p >= ' ' && *q->p <= '~' && *q->p != '"' &&
	       *q->p != '\\')
		q->p++;
	ret->n = (size_t)(q->p - ret->p);
	return q->p < q->end && *q->p == '"' && msd_infer_take(q, '"');
}

static bool take_key(struct msd_infer_text *q, struct msd_span *ret)
{
	return take_text(q, ret) && msd_infer_take(q, ':');
}

/* The next element of a list that ends with @end. False: it has ended, or is wrong. */
static bool has_next(struct msd_infer_text *q, bool *is_first, uint8_t end,
		     bool *ret_is_wrong)
{
	const bool was_first = *is_first;

	*is_first = false;
	if (msd_infer_take(q, end))
		return false;
	*ret_is_wrong = !was_first && !msd_infer_take(q, ',');
	return !*ret_is_wrong;
}

static bool take_shape(struct msd_infer_text *q, uint32_t *ret_ndim, int64_t *ret)
{
	bool is_first = true, is_wrong = false;

	*ret_ndim = 0;
	if (!msd_infer_take(q, '['))
		return false;
	while (has_next(q, &is_first, ']', &is_wrong)) {
		if (*ret_ndim == MSD_MAX_NDIM ||
		    !msd_infer_take_natural(q, &ret[*ret_ndim]))
			return false;
		++*ret_ndim;
	}
	return !is_wrong;
}

/* The end of the array whose elements are at @q; NULL: there is none. */
static const uint8_t *find_end(const struct msd_infer_text *q)
{
	size_t depth = 1;

	if (q->p < q->end && *q->p != '[') /* flat */
		return memchr(q->p, ']', (size_t)(q->end - q->p));
	for (const uint8_t *p = q->p; p < q->end; p++) {
		depth += *p == '[';
		depth -= *p == ']';
		if (depth == 0)
			return p;
	}
	return NULL;
}

/* Skip an array; its numbers are read when their type is known. */
static bool skip_data(struct msd_infer_text *q, struct msd_span *ret)
{
	if (!msd_infer_take(q, '['))
		return false;
	const uint8_t *end = find_end(q);
	if (end == NULL)
		return false;
	*ret = (struct msd_span){q->p, (size_t)(end - q->p)};
	q->p = end;
	return msd_infer_take(q, ']');
}

/* The elements in @data, as many as the shape has. */
static bool read_data(struct quick *q, struct msd_infer_input *t, struct msd_span data)
{
	struct msd_infer_text in = {data.p, data.p + data.n};
	struct msd_buf *values = &q->ask->values;

	if (t->dtype.code == MSD_DT_BFLOAT ||
	    (t->dtype.code == MSD_DT_FLOAT && t->dtype.bits == 16) ||
	    t->n_elements == 0 || t->n_elements > (data.n + 1) / 2 ||
	    !msd_buf_reserve(values, (size_t)t->bytes))
		return false;
	t->has_data = true;
	t->from = values->n;
	uint8_t *out = values->p + values->n;
	values->n += (size_t)t->bytes;
	const bool is_nested = t->ndim > 1 && in.p < in.end && *in.p == '[';
	return (is_nested ? msd_infer_take_nested(&in, t, out)
			  : msd_infer_take_row(&in, t->dtype, t->n_elements, out)) &&
	       in.p == in.end;
}

/* Its bytes are behind the JSON. */
static bool place(struct quick *q, struct msd_infer_input *t, int64_t size)
{
	if ((uint64_t)size != t->bytes || t->bytes > q->behind_bytes - q->behind_at)
		return false;
	t->from = (size_t)q->behind_at;
	q->behind_at += t->bytes;
	return true;
}

static bool finish_input(struct quick *q, struct msd_infer_input *t, unsigned seen,
			 struct msd_span data, int64_t size)
{
	const unsigned needed = NAME | SHAPE | DATATYPE;

	if ((seen & needed) != needed || ((seen & DATA) != 0) == ((seen & SIZE) != 0) ||
	    t->name.n == 0 || !msd_shape_elements(t->shape, t->ndim, &t->n_elements) ||
	    !msd_dtype_bytes(t->dtype, t->n_elements, &t->bytes) ||
	    t->bytes > MSD_MAX_PAYLOAD_BYTES)
		return false;
	for (const struct msd_infer_input *o = q->inputs; o < t; o++) {
		if (msd_span_same(o->name, t->name))
			return false;
	}
	return (seen & DATA) != 0 ? read_data(q, t, data) : place(q, t, size);
}

/* {"KEY": VALUE} with one key. */
static bool take_parameter(struct msd_infer_text *q, const char *key)
{
	struct msd_span is;

	return msd_infer_take(q, '{') && take_key(q, &is) && msd_span_is(is, key);
}

static bool take_input(struct quick *q, struct msd_infer_input *t)
{
	bool is_first = true, is_wrong = false;
	struct msd_span key = {0}, type, data = {0};
	unsigned seen = 0;
	int64_t size = 0;
	bool is_fine = msd_infer_take(&q->in, '{');

	while (is_fine && has_next(&q->in, &is_first, '}', &is_wrong)) {
		is_fine = take_key(&q->in, &key);
		if (IS(key, "name")) {
			is_fine = is_fine && see(&seen, NAME) &&
				  take_text(&q->in, &t->name);
		} else if (IS(key, "shape")) {
			is_fine = is_fine && see(&seen, SHAPE) &&
				  take_shape(&q->in, &t->ndim, t->shape);
		} else if (IS(key, "datatype")) {
			is_fine = is_fine && see(&seen, DATATYPE) &&
				  take_text(&q->in, &type) &&
				  msd_datatype_read(type, &t->dtype);
		} else if (IS(key, "data")) {
			is_fine =
				is_fine && see(&seen, DATA) && skip_data(&q->in, &data);
		} else {
			is_fine = is_fine && IS(key, "parameters") &&
				  see(&seen, SIZE) &&
				  take_parameter(&q->in, "binary_data_size") &&
				  msd_infer_take_natural(&q->in, &size) &&
				  msd_infer_take(&q->in, '}');
		}
	}
	return is_fine && !is_wrong && finish_input(q, t, seen, data, size);
}

static bool take_output(struct quick *q, struct msd_infer_output *t, bool *ret_has)
{
	bool is_first = true, is_wrong = false;
	struct msd_span key = {0};
	unsigned seen = 0;
	bool is_fine = msd_infer_take(&q->in, '{');

	while (is_fine && has_next(&q->in, &is_first, '}', &is_wrong)) {
		is_fine = take_key(&q->in, &key);
		if (IS(key, "name")) {
			is_fine = is_fine && see(&seen, NAME) &&
				  take_text(&q->in, &t->name);
		} else {
			is_fine = is_fine && IS(key, "parameters") &&
				  see(&seen, BINARY) &&
				  take_parameter(&q->in, "binary_data") &&
				  msd_infer_take_bool(&q->in, &t->is_binary) &&
				  msd_infer_take(&q->in, '}');
		}
	}
	*ret_has = (seen & BINARY) != 0;
	for (const struct msd_infer_output *o = q->outputs; o < t; o++)
		is_fine = is_fine && !msd_span_same(o->name, t->name);
	return is_fine && !is_wrong && t->name.n > 0;
}

static bool take_inputs(struct quick *q)
{
	bool is_first = true, is_wrong = false;

	if (!msd_infer_take(&q->in, '['))
		return false;
	while (has_next(&q->in, &is_first, ']', &is_wrong)) {
		if (q->n_inputs == MOST_TENSORS)
			return false;
		q->inputs[q->n_inputs] = (struct msd_infer_input){0};
		if (!take_input(q, &q->inputs[q->n_inputs]))
			return false;
		q->n_inputs++;
	}
	return !is_wrong;
}

static bool take_outputs(struct quick *q)
{
	bool is_first = true, is_wrong = false;

	if (!msd_infer_take(&q->in, '['))
		return false;
	while (has_next(&q->in, &is_first, ']', &is_wrong)) {
		const uint32_t i = q->n_outputs;
		if (i == MOST_TENSORS)
			return false;
		q->outputs[i] = (struct msd_infer_output){0};
		if (!take_output(q, &q->outputs[i], &q->has_binary[i]))
			return false;
		q->n_outputs++;
	}
	return !is_wrong;
}

static bool take_parameters(struct quick *q)
{
	bool is_first = true, is_wrong = false;
	struct msd_span key = {0};
	unsigned seen = 0;
	int64_t ms = 0;
	bool is_fine = msd_infer_take(&q->in, '{');

	while (is_fine && has_next(&q->in, &is_first, '}', &is_wrong)) {
		is_fine = take_key(&q->in, &key);
		if (IS(key, "binary_data_output")) {
			is_fine = is_fine && see(&seen, BINARY) &&
				  msd_infer_take_bool(&q->in, &q->ask->is_binary);
		} else {
			is_fine = is_fine && IS(key, "deadline_ms") &&
				  see(&seen, DEADLINE) &&
				  msd_infer_take_natural(&q->in, &ms) &&
				  ms <= UINT32_MAX;
		}
	}
	q->ask->has_deadline = (seen & DEADLINE) != 0;
	q->ask->deadline_ms = (uint32_t)ms;
	return is_fine && !is_wrong;
}

static bool take_all(struct quick *q)
{
	bool is_first = true, is_wrong = false;
	struct msd_span key = {0};
	unsigned seen = 0;
	bool is_fine = msd_infer_take(&q->in, '{');

	while (is_fine && has_next(&q->in, &is_first, '}', &is_wrong)) {
		is_fine = take_key(&q->in, &key);
		if (IS(key, "inputs")) {
			is_fine = is_fine && see(&seen, INPUTS) && take_inputs(q);
		} else if (IS(key, "outputs")) {
			is_fine = is_fine && see(&seen, OUTPUTS) && take_outputs(q);
		} else if (IS(key, "parameters")) {
			is_fine =
				is_fine && see(&seen, PARAMETERS) && take_parameters(q);
		} else {
			is_fine = is_fine && IS(key, "id") && see(&seen, ID) &&
				  take_text(&q->in, &q->ask->id);
		}
	}
	return is_fine && !is_wrong && q->in.p == q->in.end &&
	       q->behind_at == q->behind_bytes;
}

static bool keep(struct quick *q)
{
	struct msd_infer_ask *a = q->ask;

	a->inputs = malloc((q->n_inputs + 1u) * sizeof(*a->inputs));
	a->outputs = malloc((q->n_outputs + 1u) * sizeof(*a->outputs));
	if (a->inputs == NULL || a->outputs == NULL)
		return false;
	for (uint32_t i = 0; i < q->n_outputs; i++) {
		if (!q->has_binary[i])
			q->outputs[i].is_binary = a->is_binary;
	}
	memcpy(a->inputs, q->inputs, q->n_inputs * sizeof(*a->inputs));
	memcpy(a->outputs, q->outputs, q->n_outputs * sizeof(*a->outputs));
	a->n_inputs = q->n_inputs;
	a->n_outputs = q->n_outputs;
	return true;
}

bool msd_infer_quick_read(struct msd_infer_ask *ret, struct msd_span text,
			  uint64_t behind_bytes)
{
	struct quick q;

	*ret = (struct msd_infer_ask){0};
	q.in = (struct msd_infer_text){text.p, text.p + text.n};
	q.ask = ret;
	q.behind_at = 0;
	q.behind_bytes = behind_bytes;
	q.n_inputs = q.n_outputs = 0;
	if (take_all(&q) && keep(&q))
		return true;
	msd_infer_ask_finish(ret);
	return false;
}

msd_err msd_infer_read(struct msd_infer_ask *ret, struct msd_span text,
		       uint64_t behind_bytes, struct msd_diag *d)
{
	if (!msd_infer_quick_read(ret, text, behind_bytes))
		return msd_infer_ask_read(ret, text, behind_bytes, d);
	const msd_err err = msd_infer_ask_settle(ret, d);
	if (err != MSD_OK)
		msd_infer_ask_finish(ret);
	return err;
}
