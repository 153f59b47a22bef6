#include "runtime/value/small.h"

#include <math.h>

struct form {
	uint8_t code;
	int mantissa; /* bits */
	int bias;
	double most;
	bool has_infinity;
	bool has_negative_zero; /* if false, those bits are NaN */
};

static const struct form forms[] = {
	{MSD_DT_F8_E4M3FN, 3, 7, 448, false, true},
	{MSD_DT_F8_E4M3FNUZ, 3, 8, 240, false, false},
	{MSD_DT_F8_E5M2, 2, 15, 57344, true, true},
	{MSD_DT_F8_E5M2FNUZ, 2, 16, 57344, false, false},
};

enum { SIGN = 0x80, REST = 0x7f, NO_NUMBER = 0x7f };

static const struct form *form_of(struct msd_dtype dtype)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (forms[i].code == dtype.code && dtype.bits == 8 && dtype.lanes == 1)
			return &forms[i];
	}
	return NULL;
}

bool msd_small_is(struct msd_dtype dtype)
{
	const bool is_integer = dtype.code == MSD_DT_INT || dtype.code == MSD_DT_UINT;

	return form_of(dtype) != NULL ||
	       (is_integer && dtype.bits == 4 && dtype.lanes == 1);
}

static bool is_nan(const struct form *f, uint8_t byte)
{
	if (!f->has_negative_zero)
		return byte == SIGN;
	return f->has_infinity ? (byte & REST) > (REST >> f->mantissa << f->mantissa)
			       : (byte & REST) == NO_NUMBER;
}

static double load_float(const struct form *f, uint8_t byte)
{
	const int exponent = (byte & REST) >> f->mantissa;
	const int one = 1 << f->mantissa;
	const int m = byte & (one - 1);
	double v;

	if (is_nan(f, byte))
		return NAN;
	if (f->has_infinity && exponent == REST >> f->mantissa) {
		v = INFINITY;
	} else if (exponent == 0) {
		v = ldexp(m, 1 - f->bias - f->mantissa);
	} else {
		v = ldexp(m + one, exponent - f->bias - f->mantissa);
	}
	return (byte & SIGN) != 0 ? -v : v;
}

/* The bits of @v, which must be representable in the format, without the sign. */
static uint8_t bits_of(const struct form *f, double v)
{
	int exponent;

	if (v == 0)
		return 0;
	(void)frexp(v, &exponent);
	exponent--; /* normalise: v is 1.something times 2^exponent */
	if (exponent < 1 - f->bias)
		return (uint8_t)ldexp(v, f->mantissa + f->bias - 1);
	const int m = (int)ldexp(v, f->mantissa - exponent) - (1 << f->mantissa);
	return (uint8_t)((exponent + f->bias) << f->mantissa | m);
}

static double round_to(const struct form *f, double v)
{
	int exponent;

	(void)frexp(v, &exponent);
	exponent = exponent - 1 < 1 - f->bias ? 1 - f->bias : exponent - 1;
	return ldexp(nearbyint(ldexp(v, f->mantissa - exponent)),
		     exponent - f->mantissa);
}

static uint8_t store_float(const struct form *f, double v, bool saturates)
{
	const uint8_t sign = signbit(v) != 0 ? SIGN : 0;
	const uint8_t nan = f->has_negative_zero ? NO_NUMBER | sign : SIGN;
	const uint8_t infinite = (uint8_t)(REST >> f->mantissa << f->mantissa);
	double size = fabs(v);

	if (isnan(v))
		return nan;
	size = isinf(size) ? size : round_to(f, size);
	if (size > f->most && !saturates)
		return f->has_infinity ? infinite | sign : nan;
	const uint8_t bits = bits_of(f, size > f->most ? f->most : size);
	return bits == 0 && !f->has_negative_zero ? 0 : bits | sign;
}

double msd_small_load(struct msd_dtype dtype, const void *p, size_t i)
{
	const uint8_t *x = p;
	const struct form *f = form_of(dtype);

	if (f != NULL)
		return load_float(f, x[i]);
	const int v = x[i / 2] >> (i % 2 * 4) & 15;
	return dtype.code == MSD_DT_INT && v > 7 ? v - 16 : v;
}

void msd_small_store(struct msd_dtype dtype, void *p, size_t i, double v,
		     bool saturates)
{
	const double least = dtype.code == MSD_DT_INT ? -8 : 0;
	const double most = dtype.code == MSD_DT_INT ? 7 : 15;
	const struct form *f = form_of(dtype);
	uint8_t *y = p;

	if (f != NULL) {
		y[i] = store_float(f, v, saturates);
		return;
	}
	v = isnan(v) ? 0 : nearbyint(v);
	v = v < least ? least : v > most ? most : v;
	const unsigned shift = i % 2 * 4;
	y[i / 2] = (uint8_t)((y[i / 2] & (shift == 0 ? 0xf0 : 0x0f)) |
			     ((unsigned)(int)v & 15) << shift);
}
