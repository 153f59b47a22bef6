/*
 * Happy path of an element: its bits are read from the start of the lane. An integer
 * is printed as it is, a float with the fewest digits that read back the same. Floats
 * of 16 bits and less are decoded first, exactly.
 */
#include "client/cli/values/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/half.h"
#include "proto/dtype.h"
#include "proto/small.h"

static bool is_small_float(struct msd_dtype t)
{
	return msd_small_is(t) && !msd_small_is_integer(t);
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
	const struct msd_dtype type = {t.code, t.bits, 1};
	uint8_t largest = 0;

	if (!is_small_float(type) || t.code == MSD_DT_F8_E8M0FNU)
		return false;
	*ret = 0;
	msd_small_store(type, ret, 0, v, isfinite(v));
	msd_small_store(type, &largest, 0, (double)INFINITY, true);
	const double is = msd_small_load(type, ret, 0);
	return isnan(v)   ? isnan(is)
	       : isinf(v) ? isinf(is)
			  : fabs(v) <= msd_small_load(type, &largest, 0);
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
	const struct msd_dtype small = {type.code, type.bits, 1};
	uint64_t at = i * type.bits;

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
	} else if (type.bits == 16 && type.code == MSD_DT_FLOAT) {
		put_float(out, (double)msd_half_to_float((uint16_t)bits), false,
			  as_json);
	} else if (type.bits == 16 && type.code == MSD_DT_BFLOAT) {
		put_float(out, float_of(bits << 16, 32), false, as_json);
	} else if (is_small_float(small)) {
		const uint8_t byte = (uint8_t)bits;
		put_float(out, msd_small_load(small, &byte, 0), false, as_json);
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
