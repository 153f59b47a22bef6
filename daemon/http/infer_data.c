/* State of the conversion of one input. */
#include "daemon/http/infer_data.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/http/infer_wide.h"
#include "proto/base/text.h"

struct walk {
	const struct msd_infer_input *t;
	uint8_t *out;
	uint64_t n; /* elements so far */
	bool has_wide;
};

/* The wide number that the string holds; n is 0 if none. */
static struct msd_span wide_number(const struct walk *w, const json_t *v)
{
	return w->has_wide ? msd_infer_wide_number(v) : (struct msd_span){0};
}

static msd_err fail(const struct walk *w, struct msd_diag *d, const char *why)
{
	return msd_diag_set(d, MSD_BAD_REQUEST, "input %.*s, element %llu: %s",
			    (int)(w->t->name.n < 200 ? w->t->name.n : 200),
			    (const char *)w->t->name.p, (unsigned long long)w->n, why);
}

/* Check the range of an integer type, within JSON's integers. */
static bool is_in_range(struct msd_dtype t, json_int_t v)
{
	if (t.code == MSD_DT_UINT)
		return v >= 0 && (t.bits == 64 || (uint64_t)v >> t.bits == 0);
	return t.bits == 64 || (v >= -((json_int_t)1 << (t.bits - 1)) &&
				v < (json_int_t)1 << (t.bits - 1));
}

static bool has_only_digits(struct msd_span s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	}
	return true;
}

static bool is_whole(struct msd_span number)
{
	for (size_t i = 0; i < number.n; i++) {
		if (strchr(".eE", number.p[i]) != NULL)
			return false;
	}
	return true;
}

/* Only UINT64 has values beyond JSON's integers. */
static msd_err put_wide_integer(struct walk *w, struct msd_span number, uint8_t *at,
				struct msd_diag *d)
{
	if (number.n == 0 || !is_whole(number))
		return fail(w, d, "expected an integer");
	errno = 0;
	const uint64_t v = strtoull((const char *)number.p, NULL, 10);
	if (w->t->dtype.code != MSD_DT_UINT || w->t->dtype.bits != 64 ||
	    !has_only_digits(number) || errno != 0)
		return fail(w, d, "it is out of the range of its datatype");
	msd_put_le64(at, v);
	return MSD_OK;
}

static msd_err put_integer(struct walk *w, const json_t *v, uint8_t *at,
			   struct msd_diag *d)
{
	uint8_t bytes[8];

	if (!json_is_integer(v))
		return put_wide_integer(w, wide_number(w, v), at, d);
	if (!is_in_range(w->t->dtype, json_integer_value(v)))
		return fail(w, d, "it is out of the range of its datatype");
	msd_put_le64(bytes, (uint64_t)json_integer_value(v));
	memcpy(at, bytes, w->t->dtype.bits / 8u);
	return MSD_OK;
}

static msd_err put_float(struct walk *w, const json_t *v, uint8_t *at,
			 struct msd_diag *d)
{
	const struct msd_span text = wide_number(w, v);

	if (!json_is_number(v) && text.n == 0)
		return fail(w, d, "expected a number");
	const double wide =
		text.n > 0 ? strtod((const char *)text.p, NULL) : json_number_value(v);
	const float narrow = (float)wide;
	if (isfinite(wide) && w->t->dtype.bits == 64) {
		memcpy(at, &wide, sizeof(wide));
		return MSD_OK;
	}
	if (!isfinite(narrow))
		return fail(w, d, "it is out of the range of its datatype");
	memcpy(at, &narrow, sizeof(narrow));
	return MSD_OK;
}

static msd_err put(struct walk *w, const json_t *v, struct msd_diag *d)
{
	const struct msd_dtype t = w->t->dtype;
	uint8_t *at;
	msd_err err = MSD_OK;

	if (w->n == w->t->n_elements)
		return fail(w, d, "more than its shape says");
	at = w->out + w->n * (t.bits / 8u);
	if (t.code == MSD_DT_BOOL) {
		if (!json_is_boolean(v))
			return fail(w, d, "expected true or false");
		*at = json_is_true(v);
	} else if (t.code == MSD_DT_FLOAT) {
		err = put_float(w, v, at, d);
	} else {
		err = put_integer(w, v, at, d);
	}
	w->n++;
	return err;
}

/* An array of the innermost dimension. */
static msd_err put_row(struct walk *w, const json_t *row, struct msd_diag *d)
{
	size_t i;
	json_t *v;
	msd_err err = MSD_OK;

	json_array_foreach(row, i, v)
	{
		err = put(w, v, d);
		if (err != MSD_OK)
			break;
	}
	return err;
}

/* Nested arrays, depth first; at most as many levels as dimensions. */
static msd_err put_nested(struct walk *w, const json_t *data, struct msd_diag *d)
{
	struct level {
		const json_t *list;
		size_t next;
	} levels[MSD_MAX_NDIM];
	const uint32_t ndim = w->t->ndim;
	uint32_t depth = 0;
	msd_err err = MSD_OK;

	levels[0] = (struct level){data, 0};
	for (;;) {
		struct level *l = &levels[depth];
		if (!json_is_array(l->list) ||
		    json_array_size(l->list) != (size_t)w->t->shape[depth])
			return fail(w, d, "the arrays are not those of its shape");
		if (depth + 1 == ndim) {
			err = put_row(w, l->list, d);
			if (err != MSD_OK)
				return err;
			l->next = json_array_size(l->list);
		}
		while (levels[depth].next == json_array_size(levels[depth].list)) {
			if (depth == 0)
				return MSD_OK;
			depth--;
		}
		l = &levels[depth];
		levels[depth + 1] =
			(struct level){json_array_get(l->list, l->next++), 0};
		depth++;
	}
}

msd_err msd_infer_data_read(const struct msd_infer_input *t, const json_t *data,
			    bool has_wide, uint8_t *out, struct msd_diag *d)
{
	struct walk w = {.t = t, .out = out, .has_wide = has_wide};
	msd_err err;

	if (t->dtype.bits == 16 &&
	    (t->dtype.code == MSD_DT_FLOAT || t->dtype.code == MSD_DT_BFLOAT))
		return fail(&w, d, "FP16 and BF16 are accepted only as binary data");
	if (!json_is_array(data))
		return fail(&w, d, "data is an array");
	err = t->ndim > 1 && json_is_array(json_array_get(data, 0))
		      ? put_nested(&w, data, d)
		      : put_row(&w, data, d);
	if (err == MSD_OK && w.n < t->n_elements)
		return fail(&w, d, "fewer than its shape says");
	return err;
}

static int64_t integer_at(const uint8_t *p, unsigned bits)
{
	switch (bits) {
	case 8:
		return (int8_t)*p;
	case 16:
		return (int16_t)msd_le16(p);
	case 32:
		return (int32_t)msd_le32(p);
	default:
		return (int64_t)msd_le64(p);
	}
}

static uint64_t unsigned_at(const uint8_t *p, unsigned bits)
{
	return bits == 64   ? msd_le64(p)
	       : bits == 32 ? msd_le32(p)
	       : bits == 16 ? msd_le16(p)
			    : *p;
}

/* Write with enough digits to read the same bits back. False if JSON cannot represent
 * it. */
static bool write_float(const uint8_t *p, unsigned bits, struct msd_buf *out)
{
	double wide;
	float narrow;

	if (bits == 64) {
		memcpy(&wide, p, sizeof(wide));
	} else {
		memcpy(&narrow, p, sizeof(narrow));
		wide = narrow;
	}
	if (wide == 0 && signbit(wide)) { /* `-0` would be parsed as the integer zero */
		msd_text_put(out, "-0.0");
	} else if (bits == 64) {
		msd_buf_printf(out, "%.17g", wide);
	} else {
		msd_text_float(out, narrow);
	}
	return isfinite(wide);
}

static bool write_one(struct msd_dtype t, const uint8_t *p, struct msd_buf *out)
{
	int64_t v;

	switch (t.code) {
	case MSD_DT_BOOL:
		msd_text_put(out, *p != 0 ? "true" : "false");
		return true;
	case MSD_DT_INT:
		v = integer_at(p, t.bits);
		if (v < 0)
			msd_text_put(out, "-");
		msd_text_decimal(out, v < 0 ? -(uint64_t)v : (uint64_t)v);
		return true;
	case MSD_DT_UINT:
		msd_text_decimal(out, unsigned_at(p, t.bits));
		return true;
	default:
		return write_float(p, t.bits, out);
	}
}

static bool has_numbers(struct msd_dtype t)
{
	const bool is_whole =
		t.bits == 8 || t.bits == 16 || t.bits == 32 || t.bits == 64;

	return t.lanes == 1 &&
	       ((t.code == MSD_DT_BOOL && t.bits == 8) ||
		((t.code == MSD_DT_INT || t.code == MSD_DT_UINT) && is_whole) ||
		(t.code == MSD_DT_FLOAT && (t.bits == 32 || t.bits == 64)));
}

static msd_err too_long(uint64_t most, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "the reply has more than the %llu bytes of JSON of "
			    "--max-json: request binary_data",
			    (unsigned long long)most);
}

msd_err msd_infer_data_write(struct msd_dtype dtype, const uint8_t *p, uint64_t n,
			     uint64_t most, struct msd_buf *out, struct msd_diag *d)
{
	char name[MSD_DTYPE_NAME_MAX];

	if (!has_numbers(dtype)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "JSON has no numbers of %s: request binary_data",
				    msd_dtype_format(dtype, name));
	}
	msd_text_put(out, "[");
	for (uint64_t i = 0; i < n; i++) {
		if (out->n > most)
			return too_long(most, d);
		if (i > 0)
			msd_buf_put(out, ",", 1);
		if (!write_one(dtype, p + i * (dtype.bits / 8u), out)) {
			return msd_diag_set(
				d, MSD_BAD_REQUEST,
				"element %llu is not a finite number, which JSON "
				"cannot express: request binary_data",
				(unsigned long long)i);
		}
	}
	msd_text_put(out, "]");
	return out->bad ? msd_diag_no_memory(d) : MSD_OK;
}

static const struct {
	const char *name;
	struct msd_dtype dtype;
} rows[] = {{"BOOL", {MSD_DT_BOOL, 8, 1}},    {"UINT8", {MSD_DT_UINT, 8, 1}},
	    {"UINT16", {MSD_DT_UINT, 16, 1}}, {"UINT32", {MSD_DT_UINT, 32, 1}},
	    {"UINT64", {MSD_DT_UINT, 64, 1}}, {"INT8", {MSD_DT_INT, 8, 1}},
	    {"INT16", {MSD_DT_INT, 16, 1}},   {"INT32", {MSD_DT_INT, 32, 1}},
	    {"INT64", {MSD_DT_INT, 64, 1}},   {"FP16", {MSD_DT_FLOAT, 16, 1}},
	    {"FP32", {MSD_DT_FLOAT, 32, 1}},  {"FP64", {MSD_DT_FLOAT, 64, 1}},
	    {"BF16", {MSD_DT_BFLOAT, 16, 1}}};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

const char *msd_datatype_name(struct msd_dtype dtype)
{
	for (unsigned i = 0; i < N_ROWS; i++) {
		if (msd_dtype_eq(rows[i].dtype, dtype))
			return rows[i].name;
	}
	return NULL;
}

bool msd_datatype_read(struct msd_span name, struct msd_dtype *ret)
{
	for (unsigned i = 0; i < N_ROWS; i++) {
		if (msd_span_is(name, rows[i].name)) {
			*ret = rows[i].dtype;
			return true;
		}
	}
	return false;
}
