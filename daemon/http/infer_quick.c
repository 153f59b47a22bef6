/*
 * Happy path: the members of each object are read in any order; the numbers of an input
 * are converted when its type and shape are known. Failures: at the first byte that is
 * not of the usual form the reader gives up, and infer_ask.h reads the text again.
 */
#include "daemon/http/infer_quick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/http/infer_data.h"
#include "proto/limits.h"

#define MOST_TENSORS 16u /* inputs, and outputs */
#define MOST_DIGITS 18u  /* always fit into 64 bits */
#define EXACT_DIGITS 15u /* always fit into a double */
#define EXACT_POWER 22u  /* 10 to this power is a double */
#define NUMBER_BYTES 64u /* a longer number is left to the general reader */

#define IS(s, text)                                                                    \
	((s).n == sizeof(text) - 1 && memcmp((s).p, text, sizeof(text) - 1) == 0)

struct text {
	const uint8_t *p, *end;
};

struct quick {
	struct text in;
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

static void skip_space(struct text *q)
{
	while (q->p < q->end &&
	       (*q->p == ' ' || *q->p == '\n' || *q->p == '\r' || *q->p == '\t'))
		q->p++;
}

/* Skip @c and the space around it, if it is next. */
static bool take(struct text *q, uint8_t c)
{
	if (q->p < q->end && *q->p <= ' ')
		skip_space(q);
	if (q->p == q->end || *q->p != c)
		return false;
	q->p++;
	if (q->p < q->end && *q->p <= ' ')
		skip_space(q);
	return true;
}

static bool take_text(struct text *q, struct msd_span *ret)
{
	if (q->p == q->end || *q->p != '"')
		return false;
	ret->p = ++q->p;
	while (q->p < q->end && *q->p >= ' ' && *q->p <= '~' && *q->p != '"' &&
	       *q->p != '\\')
		q->p++;
	ret->n = (size_t)(q->p - ret->p);
	return q->p < q->end && *q->p == '"' && take(q, '"');
}

static bool take_key(struct text *q, struct msd_span *ret)
{
	return take_text(q, ret) && take(q, ':');
}

/* The next element of a list that ends with @end. False: it has ended, or is wrong. */
static bool has_next(struct text *q, bool *is_first, uint8_t end, bool *ret_is_wrong)
{
	const bool was_first = *is_first;

	*is_first = false;
	if (take(q, end))
		return false;
	*ret_is_wrong = !was_first && !take(q, ',');
	return !*ret_is_wrong;
}

static bool is_digit(const struct text *q)
{
	return q->p < q->end && *q->p >= '0' && *q->p <= '9';
}

/* Digits without a leading zero. */
static bool take_digits(struct text *q, int64_t *ret)
{
	const uint8_t *begin = q->p;
	const size_t left = (size_t)(q->end - begin);
	const size_t most = left < MOST_DIGITS ? left : MOST_DIGITS;
	int64_t v = 0;
	size_t n = 0;

	for (; n < most && begin[n] >= '0' && begin[n] <= '9'; n++)
		v = v * 10 + (begin[n] - '0');
	q->p += n;
	*ret = v;
	return n > 0 && !is_digit(q) && (n == 1 || *begin != '0');
}

/* A number that is not negative and has no fraction. */
static bool take_natural(struct text *q, int64_t *ret)
{
	if (!take_digits(q, ret) ||
	    (q->p < q->end && (*q->p == '.' || *q->p == 'e' || *q->p == 'E')))
		return false;
	skip_space(q);
	return true;
}

static bool take_bool(struct text *q, bool *ret)
{
	const size_t left = (size_t)(q->end - q->p);

	*ret = left >= 4 && memcmp(q->p, "true", 4) == 0;
	if (!*ret && (left < 5 || memcmp(q->p, "false", 5) != 0))
		return false;
	q->p += *ret ? 4 : 5;
	skip_space(q);
	return true;
}

static bool take_shape(struct text *q, uint32_t *ret_ndim, int64_t *ret)
{
	bool is_first = true, is_wrong = false;

	*ret_ndim = 0;
	if (!take(q, '['))
		return false;
	while (has_next(q, &is_first, ']', &is_wrong)) {
		if (*ret_ndim == MSD_MAX_NDIM || !take_natural(q, &ret[*ret_ndim]))
			return false;
		++*ret_ndim;
	}
	return !is_wrong;
}

/* Skip a flat array; its numbers are read when their type is known. */
static bool skip_data(struct text *q, struct msd_span *ret)
{
	if (!take(q, '['))
		return false;
	const uint8_t *end = memchr(q->p, ']', (size_t)(q->end - q->p));
	if (end == NULL)
		return false;
	*ret = (struct msd_span){q->p, (size_t)(end - q->p)};
	q->p = end;
	return take(q, ']');
}

/* Returns false if there are none. */
static bool skip_digits(struct text *q)
{
	const uint8_t *begin = q->p;

	while (q->p < q->end && *q->p >= '0' && *q->p <= '9')
		q->p++;
	return q->p > begin;
}

/* Skip the fraction and the exponent of a number. */
static bool skip_rest(struct text *q)
{
	if (q->p < q->end && *q->p == '.') {
		q->p++;
		if (!skip_digits(q))
			return false;
	}
	if (q->p < q->end && (*q->p == 'e' || *q->p == 'E')) {
		q->p++;
		if (q->p < q->end && (*q->p == '+' || *q->p == '-'))
			q->p++;
		if (!skip_digits(q))
			return false;
	}
	return true;
}

/* A number with few digits and no exponent is one exact division. */
static bool divide(struct msd_span number, double *ret)
{
	static const double powers[EXACT_POWER + 1] = {
		1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	const bool is_less = *number.p == '-';
	uint64_t v = 0;
	size_t n_behind = 0;

	if (number.n - is_less > EXACT_DIGITS + 1) /* one is the point */
		return false;
	for (size_t i = is_less; i < number.n; i++) {
		const uint8_t c = number.p[i];
		if (c == 'e' || c == 'E')
			return false;
		if (c == '.') {
			n_behind = number.n - i - 1;
		} else {
			v = v * 10 + (uint64_t)(c - '0');
		}
	}
	const double wide = (double)v / powers[n_behind];
	*ret = is_less ? -wide : wide;
	return true;
}

/* strtod() wants a NUL at the end. */
static bool convert(struct msd_span number, double *ret)
{
	char text[NUMBER_BYTES + 1];

	if (divide(number, ret))
		return true;
	if (number.n > NUMBER_BYTES)
		return false;
	memcpy(text, number.p, number.n);
	text[number.n] = '\0';
	*ret = strtod(text, NULL);
	return isfinite(*ret);
}

/* As a JSON reader has it: a number without fraction and exponent is an integer, whose
 * zero has no sign. */
static bool take_float(struct text *q, unsigned bits, uint8_t *out)
{
	const uint8_t *begin = q->p;
	const bool is_less = q->p < q->end && *q->p == '-';
	int64_t whole;
	double wide;

	q->p += is_less;
	if (!take_digits(q, &whole))
		return false;
	const uint8_t *behind = q->p;
	if (!skip_rest(q))
		return false;
	if (q->p == behind) {
		wide = (double)(is_less ? -whole : whole);
	} else if (!convert((struct msd_span){begin, (size_t)(q->p - begin)}, &wide)) {
		return false;
	}
	const float narrow = (float)wide;
	if (bits == 64) {
		memcpy(out, &wide, sizeof(wide));
	} else {
		memcpy(out, &narrow, sizeof(narrow));
	}
	return bits == 64 || isfinite(narrow);
}

static bool take_integer(struct text *q, struct msd_dtype t, uint8_t *out)
{
	const bool is_less = q->p < q->end && *q->p == '-';
	uint8_t bytes[8];
	int64_t v;

	q->p += is_less;
	if (!take_natural(q, &v))
		return false;
	v = is_less ? -v : v;
	const bool is_fit =
		t.bits == 64 ||
		(t.code == MSD_DT_UINT ? v >> t.bits == 0
				       : v >= -((int64_t)1 << (t.bits - 1)) &&
						 v < (int64_t)1 << (t.bits - 1));
	msd_put_le64(bytes, (uint64_t)v);
	memcpy(out, bytes, t.bits / 8u);
	return is_fit && (v >= 0 || t.code != MSD_DT_UINT);
}

static bool take_element(struct text *q, struct msd_dtype t, uint8_t *out)
{
	bool is_true;

	switch (t.code) {
	case MSD_DT_FLOAT:
		return take_float(q, t.bits, out);
	case MSD_DT_BOOL:
		if (!take_bool(q, &is_true))
			return false;
		*out = is_true;
		return true;
	default:
		return take_integer(q, t, out);
	}
}

/* The elements in @data, as many as the shape has. */
static bool read_data(struct quick *q, struct msd_infer_input *t, struct msd_span data)
{
	struct text in = {data.p, data.p + data.n};
	struct msd_buf *values = &q->ask->values;

	if (t->dtype.code == MSD_DT_BFLOAT ||
	    (t->dtype.code == MSD_DT_FLOAT && t->dtype.bits == 16) ||
	    t->n_elements == 0 || t->n_elements > (data.n + 1) / 2 ||
	    !msd_buf_reserve(values, (size_t)t->bytes))
		return false;
	t->has_data = true;
	t->from = values->n;
	uint8_t *out = values->p + values->n;
	for (uint64_t i = 0; i < t->n_elements; i++) {
		if ((i > 0 && !take(&in, ',')) || !take_element(&in, t->dtype, out))
			return false;
		out += t->dtype.bits / 8u;
	}
	skip_space(&in);
	values->n += (size_t)t->bytes;
	return in.p == in.end;
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
static bool take_parameter(struct text *q, const char *key)
{
	struct msd_span is;

	return take(q, '{') && take_key(q, &is) && msd_span_is(is, key);
}

static bool take_input(struct quick *q, struct msd_infer_input *t)
{
	bool is_first = true, is_wrong = false;
	struct msd_span key = {0}, type, data = {0};
	unsigned seen = 0;
	int64_t size = 0;
	bool is_fine = take(&q->in, '{');

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
				  take_natural(&q->in, &size) && take(&q->in, '}');
		}
	}
	return is_fine && !is_wrong && finish_input(q, t, seen, data, size);
}

static bool take_output(struct quick *q, struct msd_infer_output *t, bool *ret_has)
{
	bool is_first = true, is_wrong = false;
	struct msd_span key = {0};
	unsigned seen = 0;
	bool is_fine = take(&q->in, '{');

	while (is_fine && has_next(&q->in, &is_first, '}', &is_wrong)) {
		is_fine = take_key(&q->in, &key);
		if (IS(key, "name")) {
			is_fine = is_fine && see(&seen, NAME) &&
				  take_text(&q->in, &t->name);
		} else {
			is_fine = is_fine && IS(key, "parameters") &&
				  see(&seen, BINARY) &&
				  take_parameter(&q->in, "binary_data") &&
				  take_bool(&q->in, &t->is_binary) && take(&q->in, '}');
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

	if (!take(&q->in, '['))
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

	if (!take(&q->in, '['))
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
	bool is_fine = take(&q->in, '{');

	while (is_fine && has_next(&q->in, &is_first, '}', &is_wrong)) {
		is_fine = take_key(&q->in, &key);
		if (IS(key, "binary_data_output")) {
			is_fine = is_fine && see(&seen, BINARY) &&
				  take_bool(&q->in, &q->ask->is_binary);
		} else {
			is_fine = is_fine && IS(key, "deadline_ms") &&
				  see(&seen, DEADLINE) && take_natural(&q->in, &ms) &&
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
	bool is_fine = take(&q->in, '{');

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
	q.in = (struct text){text.p, text.p + text.n};
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
