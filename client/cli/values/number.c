/*
 * Happy path of an element: its bits are read from the start of the lane. An integer
 * is printed as it is, a float with the fewest digits that read back the same. Floats
 * of 16 bits and less are decoded to doubles, which represent them exactly. The
 * decoder uses a table of their layouts (exponent, mantissa, bias, meaning of the
 * highest exponent).
 */
#include "client/cli/values/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/dtype.h"

enum special {
	IEEE, /* the highest exponent is inf and nan */
	FN,   /* no inf; all bits set is nan */
	FNUZ, /* no inf, no -0: that bit pattern is nan */
	NONE, /* neither inf nor nan */
};

/* Layout of a small float. */
struct layout {
	uint8_t exponent_bits, mantissa_bits;
	int bias;
	enum special special;
};

static bool layout_of(modser_dtype t, struct layout *ret)
{
	static const struct layout layouts[] = {
		[MSD_DT_BFLOAT] = {8, 7, 127, IEEE},
		[MSD_DT_FLOAT] = {5, 10, 15, IEEE}, /* of 16 bits */
		[MSD_DT_F8_E3M4] = {3, 4, 3, IEEE},
		[MSD_DT_F8_E4M3] = {4, 3, 7, IEEE},
		[MSD_DT_F8_E4M3B11FNUZ] = {4, 3, 11, FNUZ},
		[MSD_DT_F8_E4M3FN] = {4, 3, 7, FN},
		[MSD_DT_F8_E4M3FNUZ] = {4, 3, 8, FNUZ},
		[MSD_DT_F8_E5M2] = {5, 2, 15, IEEE},
		[MSD_DT_F8_E5M2FNUZ] = {5, 2, 16, FNUZ},
		[MSD_DT_F6_E2M3FN] = {2, 3, 1, NONE},
		[MSD_DT_F6_E3M2FN] = {3, 2, 3, NONE},
		[MSD_DT_F4_E2M1FN] = {2, 1, 1, NONE},
	};

	if (t.code >= sizeof(layouts) / sizeof(layouts[0]))
		return false;
	*ret = layouts[t.code];
	return ret->exponent_bits != 0 &&
	       t.bits == 1 + ret->exponent_bits + ret->mantissa_bits;
}

static double small_float(uint64_t bits, struct layout l)
{
	unsigned sign_at = (unsigned)l.exponent_bits + l.mantissa_bits;
	uint64_t mantissa = bits & ((1u << l.mantissa_bits) - 1);
	uint64_t highest = (1u << l.exponent_bits) - 1;
	uint64_t exponent = bits >> l.mantissa_bits & highest;
	double sign = (bits >> sign_at & 1) != 0 ? -1 : 1;

	if (l.special == IEEE && exponent == highest)
		return mantissa != 0 ? (double)NAN : sign * (double)INFINITY;
	if (l.special == FN && (bits & ((1u << sign_at) - 1)) == (1u << sign_at) - 1)
		return (double)NAN;
	if (l.special == FNUZ && bits == 1ull << sign_at)
		return (double)NAN;
	if (exponent == 0) /* subnormal */
		return sign * ldexp((double)mantissa, 1 - l.bias - l.mantissa_bits);
	return sign * ldexp((double)(mantissa | 1ull << l.mantissa_bits),
			    (int)exponent - l.bias - l.mantissa_bits);
}

void msd_number_put(struct msd_buf *out, double v, bool is_double)
{
	char text[40];
	int digits = is_double ? 15 : 6;
	int most = is_double ? 17 : 9;

	if (isnan(v) || isinf(v)) {
		msd_buf_printf(out, "%s", isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
		return;
	}
	for (; digits <= most; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, v);
		double back =
			is_double ? strtod(text, NULL) : (double)strtof(text, NULL);
		if (back == v)
			break;
	}
	msd_buf_printf(out, "%s%s", text, strpbrk(text, ".e") == NULL ? ".0" : "");
}

static void put_float(struct msd_buf *out, double v, bool is_double, bool as_json)
{
	bool quoted = as_json && (isnan(v) || isinf(v));

	if (quoted)
		msd_buf_put_u8(out, '"');
	msd_number_put(out, v, is_double);
	if (quoted)
		msd_buf_put_u8(out, '"');
}

static void put_complex(struct msd_buf *out, double re, double im, bool is_double,
			bool as_json)
{
	if (as_json)
		msd_buf_put_u8(out, '[');
	put_float(out, re, is_double, as_json);
	if (as_json) {
		msd_buf_printf(out, ", ");
	} else if (!(im < 0) && !signbit(im)) {
		msd_buf_put_u8(out, '+');
	}
	put_float(out, im, is_double, as_json);
	msd_buf_put_u8(out, as_json ? ']' : 'j');
}

/* @width bits at bit @at of the data, lowest bit first. */
static uint64_t bits_at(const modser_tensor *t, uint64_t at, unsigned width)
{
	const uint8_t *data = t->data;
	uint64_t v = 0;

	if (at % 8 == 0 && width % 8 == 0) {
		for (unsigned i = 0; i < width / 8 && at / 8 + i < t->bytes; i++)
			v |= (uint64_t)data[at / 8 + i] << 8 * i;
		return v;
	}
	for (unsigned i = 0; i < width && (at + i) / 8 < t->bytes; i++)
		v |= (uint64_t)(data[(at + i) / 8] >> (at + i) % 8 & 1) << i;
	return v;
}

void msd_number_put_bits(uint8_t *data, uint64_t at, unsigned width, uint64_t bits)
{
	if (at % 8 == 0 && width % 8 == 0) {
		memcpy(data + at / 8, &bits, width / 8); /* little-endian */
		return;
	}
	for (unsigned i = 0; i < width; i++)
		data[(at + i) / 8] |= (uint8_t)((bits >> i & 1) << (at + i) % 8);
}

bool msd_number_small_bits(modser_dtype t, double v, uint8_t *ret)
{
	double best = (double)INFINITY, most = 0;
	struct layout l;

	if (t.bits > 8 || !layout_of(t, &l))
		return false;
	for (unsigned i = 0; i < 1u << t.bits; i++) { /* 256 at most */
		const double is = small_float(i, l);
		const double off = fabs(is - v);

		if ((isnan(v) && isnan(is)) || (is == v && signbit(is) == signbit(v))) {
			*ret = (uint8_t)i;
			return true;
		}
		if (!isfinite(is))
			continue;
		most = fmax(most, is);
		if (off < best || (off == best && i % 2 == 0)) {
			best = off;
			*ret = (uint8_t)i;
		}
	}
	return fabs(v) <= most;
}

static double float_of(uint64_t bits, unsigned width)
{
	if (width == 32) {
		uint32_t low = (uint32_t)bits;
		float v;

		memcpy(&v, &low, sizeof(v));
		return (double)v;
	}
	double v;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static int64_t signed_of(uint64_t bits, unsigned width)
{
	uint64_t top = 1ull << (width - 1);

	return (int64_t)((bits ^ top) - top);
}

void msd_number_put_element(struct msd_buf *out, const modser_tensor *t, uint64_t i,
			    bool as_json)
{
	modser_dtype type = t->dtype;
	uint64_t at = i * type.bits;
	struct layout l;

	if (type.code == MSD_DT_COMPLEX && (type.bits == 64 || type.bits == 128)) {
		unsigned half = type.bits / 2u;

		put_complex(out, float_of(bits_at(t, at, half), half),
			    float_of(bits_at(t, at + half, half), half), half == 64,
			    as_json);
		return;
	}
	uint64_t bits = bits_at(t, at, type.bits <= 64 ? type.bits : 64);
	if (type.code == MSD_DT_FLOAT && (type.bits == 32 || type.bits == 64)) {
		put_float(out, float_of(bits, type.bits), type.bits == 64, as_json);
	} else if (type.code == MSD_DT_F8_E8M0FNU) {
		put_float(out, bits == 255 ? (double)NAN : ldexp(1, (int)bits - 127),
			  false, as_json);
	} else if (layout_of(type, &l)) {
		put_float(out, small_float(bits, l), false, as_json);
	} else if (type.code == MSD_DT_BOOL) {
		msd_buf_printf(out, "%s", bits != 0 ? "true" : "false");
	} else if (type.code == MSD_DT_INT && type.bits > 0) {
		msd_buf_printf(
			out, "%lld",
			(long long)signed_of(bits, type.bits <= 64 ? type.bits : 64u));
	} else {
		msd_buf_printf(out, "%llu", (unsigned long long)bits);
	}
}
