#include "runtime/engine/reference/element/exponential.h"

#include <stdint.h>
#include <string.h>

/* exp(x) is 2^k exp(r), with |r| at most half of the logarithm of 2, and exp(r) from
 * the first terms of its series: the next one is below 2^-47. */
static inline __attribute__((always_inline)) double exp_near(double x)
{
	const double shift =
		0x1.8p52 + 1023; /* its sum with k holds the exponent's bits */
	const double shifted = x * 1.4426950408889634 + shift;
	const double k = shifted - shift;
	const double r =
		x - k * 6.93147180369123816490e-01 - k * 1.90821492927058770002e-10;
	double p = 1.0 / 39916800;
	double power;
	uint64_t bits;

	p = p * r + 1.0 / 3628800;
	p = p * r + 1.0 / 362880;
	p = p * r + 1.0 / 40320;
	p = p * r + 1.0 / 5040;
	p = p * r + 1.0 / 720;
	p = p * r + 1.0 / 120;
	p = p * r + 1.0 / 24;
	p = p * r + 1.0 / 6;
	p = p * r + 0.5;
	p = p * r + 1;
	p = p * r + 1;
	memcpy(&bits, &shifted, sizeof(bits));
	bits <<= 52;
	memcpy(&power, &bits, sizeof(power));
	return p * power;
}

/* A loop of its own: else the compiler treats limited elements apart, one by one. */
static inline __attribute__((always_inline)) void limit(double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = x[i] < -700 ? -700 : x[i];
	for (size_t i = 0; i < n; i++)
		x[i] = x[i] > 700 ? 700 : x[i];
}

static inline __attribute__((always_inline)) bool is_sure(const double *y, size_t n,
							  double error, double shift)
{
	int unsure = 0;

	for (size_t i = 0; i < n; i++) {
		const double off = (y[i] < 0 ? -y[i] : y[i]) * error + shift;

		unsure |= !((float)(y[i] - off) == (float)(y[i] + off));
	}
	return unsure == 0;
}

#define ROWS(name, attributes)                                                         \
	attributes static void exp_##name(double *x, size_t n)                         \
	{                                                                              \
		limit(x, n);                                                           \
		for (size_t i = 0; i < n; i++)                                         \
			x[i] = exp_near(x[i]);                                         \
	}                                                                              \
                                                                                       \
	attributes static bool sure_##name(const double *y, size_t n, double error,    \
					   double shift)                               \
	{                                                                              \
		return is_sure(y, n, error, shift);                                    \
	}
ROWS(any, )
#if defined(__x86_64__)
ROWS(avx2, __attribute__((target("avx2,fma"))))

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

void msd_exp_near(double *x, size_t n)
{
#if defined(__x86_64__)
	if (has_avx2()) {
		exp_avx2(x, n);
		return;
	}
#endif
	exp_any(x, n);
}

bool msd_exp_is_sure(const double *y, size_t n, double error, double shift)
{
#if defined(__x86_64__)
	if (has_avx2())
		return sure_avx2(y, n, error, shift);
#endif
	return sure_any(y, n, error, shift);
}
