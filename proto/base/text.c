#include "proto/base/text.h"

#include <string.h>

#define MAX_DIGITS 20 /* digits of UINT64_MAX */
#define FLOAT_DIGITS 9
#define MIN_EXPONENT (-4) /* "%.9g" writes smaller and larger ones with an exponent */
#define MAX_EXPONENT 8

void msd_text_decimal(struct msd_buf *b, uint64_t v)
{
	/* Two digits at a time: metrics of many modules are mostly digits. */
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	char digits[MAX_DIGITS];
	size_t at = sizeof(digits);

	for (; v >= 100; v /= 100)
		memcpy(digits + (at -= 2), pairs + 2 * (v % 100), 2);
	if (v >= 10) {
		memcpy(digits + (at -= 2), pairs + 2 * v, 2);
	} else {
		digits[--at] = (char)('0' + v);
	}
	msd_buf_put(b, digits + at, sizeof(digits) - at);
}

static uint32_t bits_of(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

/* The first FLOAT_DIGITS digits of @v, which is at least 1e-4 and below 1e9, rounded to
 * even. All products fit: 24 bits by 10^12 are below 2^64. */
static uint64_t float_digits(float v, int exponent)
{
	static const uint64_t powers[] = {
		1,           10,           100,          1000,      10000,
		100000,      1000000,      10000000,     100000000, 1000000000,
		10000000000, 100000000000, 1000000000000};
	const uint32_t bits = bits_of(v);
	const uint64_t mantissa = (bits & 0x7fffffu) | 0x800000u;
	const int shift = (int)(bits >> 23) - 150;
	const uint64_t n = mantissa * powers[FLOAT_DIGITS - 1 - exponent];
	if (shift >= 0)
		return n << shift;
	const uint64_t whole = n >> -shift, half = UINT64_C(1) << (-shift - 1);
	const uint64_t rest = n & (2 * half - 1);
	return whole + (rest > half || (rest == half && (whole & 1) != 0));
}

static void put_fixed(struct msd_buf *b, const char digits[FLOAT_DIGITS], int exponent)
{
	int n = FLOAT_DIGITS;

	while (n > 1 && digits[n - 1] == '0')
		n--;
	if (exponent < 0) {
		msd_buf_put(b, "0.0000", (size_t)(1 - exponent));
		msd_buf_put(b, digits, (size_t)n);
		return;
	}
	const int n_whole = exponent + 1;
	msd_buf_put(b, digits, (size_t)n_whole);
	if (n > n_whole) {
		msd_buf_put(b, ".", 1);
		msd_buf_put(b, digits + n_whole, (size_t)(n - n_whole));
	}
}

void msd_text_float(struct msd_buf *b, float v)
{
	static const double powers[] = {1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2,
					1e3,  1e4,  1e5,  1e6, 1e7, 1e8};
	const float size = v < 0 ? -v : v;
	int exponent = MIN_EXPONENT;
	char digits[FLOAT_DIGITS];

	if (bits_of(v) == 0) { /* frequent */
		msd_buf_put(b, "0", 1);
		return;
	}
	if (!((double)size >= 1e-4 && size < 1e9f)) { /* rare, or not a number */
		msd_buf_printf(b, "%.9g", (double)v);
		return;
	}
	while (exponent < MAX_EXPONENT &&
	       (double)size >= powers[exponent - MIN_EXPONENT])
		exponent++;
	/* A float has too few bits to round up to the next power of ten. */
	uint64_t n = float_digits(size, exponent);
	for (int i = FLOAT_DIGITS - 1; i >= 0; i--, n /= 10)
		digits[i] = (char)('0' + n % 10);
	if (v < 0)
		msd_buf_put(b, "-", 1);
	put_fixed(b, digits, exponent);
}
