/*
 * Happy path: a number with few digits is converted by one exact division, any other by
 * strtod(). Failures: at the first byte of another form the caller gives up, and the
 * general reader reads the text again.
 */
#include "daemon/http/infer_elements.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DIGITS 18u  /* always fit into 64 bits */
#define EXACT_DIGITS 15u /* always fit into a double */
#define EXACT_POWER 22u  /* 10 to this power is a double */
#define NUMBER_BYTES 64u /* a longer number is left to the general reader */

static bool is_digit(const struct msd_infer_text *q)
{
	return q->p < q->end && *q->p >= '0' && *q->p <= '9';
}

/* Digits without a leading zero. */
static bool take_digits(struct msd_infer_text *q, int64_t *ret)
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

bool msd_infer_take_natural(struct msd_infer_text *q, int64_t *ret)
{
	if (!take_digits(q, ret) ||
	    (q->p < q->end && (*q->p == '.' || *q->p == 'e' || *q->p == 'E')))
		return false;
	msd_infer_skip_space(q);
	return true;
}

bool msd_infer_take_bool(struct msd_infer_text *q, bool *ret)
{
	const size_t left = (size_t)(q->end - q->p);

	*ret = left >= 4 && memcmp(q->p, "true", 4) == 0;
	if (!*ret && (left < 5 || memcmp(q->p, "false", 5) != 0))
		return false;
	q->p += *ret ? 4 : 5;
	msd_infer_skip_space(q);
	return true;
}

/* Returns false if there are none. */
static bool skip_digits(struct msd_infer_text *q)
{
	const uint8_t *begin = q->p;

	while (q->p < q->end && *q->p >= '0' && *q->p <= '9')
		q->p++;
	return q->p > begin;
}

/* Skip the fraction and the exponent of a number. */
static bool skip_rest(struct msd_infer_text *q)
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
static bool take_float(struct msd_infer_text *q, unsigned bits, uint8_t *out)
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

static bool take_integer(struct msd_infer_text *q, struct msd_dtype t, uint8_t *out)
{
	const bool is_less = q->p < q->end && *q->p == '-';
	uint8_t bytes[8];
	int64_t v;

	q->p += is_less;
	if (!msd_infer_take_natural(q, &v))
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

static bool take_element(struct msd_infer_text *q, struct msd_dtype t, uint8_t *out)
{
	bool is_true;

	switch (t.code) {
	case MSD_DT_FLOAT:
		return take_float(q, t.bits, out);
	case MSD_DT_BOOL:
		if (!msd_infer_take_bool(q, &is_true))
			return false;
		*out = is_true;
		return true;
	default:
		return take_integer(q, t, out);
	}
}

bool msd_infer_take_row(struct msd_infer_text *q, struct msd_dtype t, uint64_t n,
			uint8_t *out)
{
	for (uint64_t i = 0; i < n; i++) {
		if ((i > 0 && !msd_infer_take(q, ',')) || !take_element(q, t, out))
			return false;
		out += t.bits / 8u;
	}
	msd_infer_skip_space(q);
	return true;
}

bool msd_infer_take_nested(struct msd_infer_text *q, const struct msd_infer_input *t,
			   uint8_t *out)
{
	const uint32_t last = t->ndim - 1u;
	const size_t row_bytes = (size_t)t->shape[last] * (t->dtype.bits / 8u);
	int64_t n_taken[MSD_MAX_NDIM] = {0};
	uint32_t depth = 0;

	for (;;) {
		for (; depth < last; depth++) {
			if (!msd_infer_take(q, '['))
				return false;
			n_taken[depth + 1] = 0;
		}
		if (!msd_infer_take_row(q, t->dtype, (uint64_t)t->shape[last], out))
			return false;
		out += row_bytes;
		do {
			if (depth == 0)
				return true;
			if (!msd_infer_take(q, ']'))
				return false;
			depth--;
		} while (++n_taken[depth] == t->shape[depth]);
		if (!msd_infer_take(q, ','))
			return false;
	}
}
