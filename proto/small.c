#include "proto/small.h"

#include <math.h>
#include <string.h>

/* Exceptions to a format whose bits are all numbers. */
enum special {
	ALL_NUMBERS,   /* no NaN, no infinity */
	NAN_AT_END,    /* all bits set */
	HAS_INFINITY,  /* the largest exponent is infinity and NaN */
	NAN_FOR_MINUS, /* the bits of a negative zero */
};

struct form {
	uint8_t code;
	uint8_t bits;
	int mantissa; /* bits */
	int bias;
	double most;
	enum special special;
};

static const struct form forms[] = {
	{MSD_DT_F8_E3M4, 8, 4, 3, 15.5, HAS_INFINITY},
	{MSD_DT_F8_E4M3, 8, 3, 7, 240, HAS_INFINITY},
	{MSD_DT_F8_E4M3B11FNUZ, 8, 3, 11, 30, NAN_FOR_MINUS},
	{MSD_DT_F8_E4M3FN, 8, 3, 7, 448, NAN_AT_END},
	{MSD_DT_F8_E4M3FNUZ, 8, 3, 8, 240, NAN_FOR_MINUS},
	{MSD_DT_F8_E5M2, 8, 2, 15, 57344, HAS_INFINITY},
	{MSD_DT_F8_E5M2FNUZ, 8, 2, 16, 57344, NAN_FOR_MINUS},
	{MSD_DT_F6_E2M3FN, 6, 3, 1, 7.5, ALL_NUMBERS},
	{MSD_DT_F6_E3M2FN, 6, 2, 3, 28, ALL_NUMBERS},
	{MSD_DT_F4_E2M1FN, 4, 1, 1, 6, ALL_NUMBERS},
};

enum { POWER_BIAS = 127, POWER_NAN = 0xff }; /* of float8_e8m0fnu */

static uint8_t sign_of(const struct form *f)
{
	return (uint8_t)(1 << (f->bits - 1));
}

/* All bits but the sign. */
static uint8_t rest_of(const struct form *f)
{
	return (uint8_t)(sign_of(f) - 1);
}

static const struct form *form_of(struct msd_dtype dtype)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (forms[i].code == dtype.code && forms[i].bits == dtype.bits &&
		    dtype.lanes == 1)
			return &forms[i];
	}
	return NULL;
}

/* A power of two: an exponent without sign and mantissa. */
static bool is_power(struct msd_dtype dtype)
{
	return dtype.code == MSD_DT_F8_E8M0FNU && dtype.bits == 8 && dtype.lanes == 1;
}

bool msd_small_is_integer(struct msd_dtype dtype)
{
	return (dtype.code == MSD_DT_INT || dtype.code == MSD_DT_UINT) &&
	       (dtype.bits == 2 || dtype.bits == 4) && dtype.lanes == 1;
}

bool msd_small_is(struct msd_dtype dtype)
{
	return form_of(dtype) != NULL || is_power(dtype) || msd_small_is_integer(dtype);
}

/* Elements follow each other bit by bit, the lowest first. */
static unsigned take_bits(unsigned bits, const uint8_t *p, size_t i)
{
	const size_t at = i * bits;
	const unsigned shift = at % 8;
	unsigned v = p[at / 8];

	if (shift + bits > 8)
		v |= (unsigned)p[at / 8 + 1] << 8;
	return v >> shift & ((1u << bits) - 1);
}

static void put_bits(unsigned bits, uint8_t *p, size_t i, unsigned v)
{
	const size_t at = i * bits;
	const unsigned shift = at % 8;
	const unsigned mask = ((1u << bits) - 1) << shift;

	v <<= shift;
	p[at / 8] = (uint8_t)((p[at / 8] & ~mask) | v);
	if (shift + bits > 8) {
		p[at / 8 + 1] = (uint8_t)((p[at / 8 + 1] & ~(mask >> 8)) | (v >> 8));
	}
}

static bool is_nan(const struct form *f, uint8_t byte)
{
	const uint8_t rest = rest_of(f);

	switch (f->special) {
	case ALL_NUMBERS:
		return false;
	case NAN_AT_END:
		return (byte & rest) == rest;
	case NAN_FOR_MINUS:
		return byte == sign_of(f);
	case HAS_INFINITY:
		break;
	}
	return (byte & rest) > (rest >> f->mantissa << f->mantissa);
}

static double load_float(const struct form *f, uint8_t byte)
{
	const int exponent = (byte & rest_of(f)) >> f->mantissa;
	const int one = 1 << f->mantissa;
	const int m = byte & (one - 1);
	double v;

	if (is_nan(f, byte))
		return NAN;
	if (f->special == HAS_INFINITY && exponent == rest_of(f) >> f->mantissa) {
		v = INFINITY;
	} else if (exponent == 0) {
		v = ldexp(m, 1 - f->bias - f->mantissa);
	} else {
		v = ldexp(m + one, exponent - f->bias - f->mantissa);
	}
	return (byte & sign_of(f)) != 0 ? -v : v;
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

/* The bits of NaN; a format without NaN has a negative zero for it. */
static uint8_t nan_of(const struct form *f, uint8_t sign)
{
	return f->special == NAN_AT_END || f->special == HAS_INFINITY
		       ? rest_of(f) | sign
		       : sign_of(f);
}

static uint8_t store_float(const struct form *f, double v, bool saturates)
{
	const uint8_t sign = signbit(v) != 0 ? sign_of(f) : 0;
	double size = fabs(v);

	if (isnan(v))
		return nan_of(f, sign);
	size = isinf(size) ? size : round_to(f, size);
	if (size > f->most && !saturates && f->special == HAS_INFINITY)
		return (uint8_t)(rest_of(f) >> f->mantissa << f->mantissa | sign);
	if (size > f->most && !saturates && f->special != ALL_NUMBERS)
		return nan_of(f, sign);
	const uint8_t bits = bits_of(f, size > f->most ? f->most : size);
	return bits == 0 && f->special == NAN_FOR_MINUS ? 0 : (uint8_t)(bits | sign);
}

/* Round up to a power of two; the sign is lost, and 0 becomes the smallest power. */
static uint8_t store_power(double v)
{
	const float single = fabsf((float)v);
	uint32_t bits;

	memcpy(&bits, &single, sizeof(bits));
	const uint32_t exponent = bits >> 23;
	if (exponent == POWER_NAN)
		return POWER_NAN;
	return (uint8_t)(exponent +
			 ((bits & 0x7fffff) != 0 && exponent + 1 < POWER_NAN));
}

double msd_small_load(struct msd_dtype dtype, const void *p, size_t i)
{
	const struct form *f = form_of(dtype);
	const unsigned bits = take_bits(dtype.bits, p, i);

	if (f != NULL)
		return load_float(f, (uint8_t)bits);
	if (is_power(dtype))
		return bits == POWER_NAN ? NAN : ldexp(1, (int)bits - POWER_BIAS);
	const int top = 1 << (dtype.bits - 1);
	return dtype.code == MSD_DT_INT && (int)bits >= top ? (int)bits - 2 * top
							    : (int)bits;
}

void msd_small_store(struct msd_dtype dtype, void *p, size_t i, double v,
		     bool saturates)
{
	const struct form *f = form_of(dtype);
	const int top = 1 << (dtype.bits - 1);
	const double least = dtype.code == MSD_DT_INT ? -top : 0;
	const double most = dtype.code == MSD_DT_INT ? top - 1 : 2 * top - 1;

	if (f != NULL) {
		put_bits(dtype.bits, p, i, store_float(f, v, saturates));
	} else if (is_power(dtype)) {
		put_bits(dtype.bits, p, i, store_power(v));
	} else {
		v = isnan(v) ? 0 : nearbyint(v);
		v = v < least ? least : v > most ? most : v;
		msd_small_store_bits(dtype, p, i, (uint64_t)(int64_t)v);
	}
}

void msd_small_store_bits(struct msd_dtype dtype, void *p, size_t i, uint64_t v)
{
	put_bits(dtype.bits, p, i, (unsigned)(v & ((1u << dtype.bits) - 1)));
}
