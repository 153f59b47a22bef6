/* Functions of one and of two elements. */
#include "runtime/engine/native/level/level.h"
#include "runtime/engine/native/level/math.h"

INLINE vec sqrt_of(vec x)
{
	float at[LANES];

	store(at, x);
	for (size_t i = 0; i < LANES; i++)
		at[i] = __builtin_sqrtf(at[i]);
	return load(at);
}

INLINE vec hard_sigmoid(vec x, float a, float b)
{
	return least(most(x * all(a) + all(b), all(0)), all(1));
}

INLINE vec gelu_tanh(vec x)
{
	const vec inner = all(0x1.988454p-1f) * (x + all(0.044715f) * x * x * x);

	return all(0.5f) * x * (all(1) + msd_tanh(inner));
}

/* x + log(1 + exp(-x)) for x > 0, else log(1 + exp(x)), where adding 1 loses nothing
 * that counts or the sum is exp(x) itself. */
INLINE vec softplus(vec x)
{
	const vec e = msd_exp(-msd_abs(x));
	const vec sum = all(1) + e;
	/* The addition rounded this away, at first order. */
	const vec rest = (e - (sum - all(1))) / sum;

	return most(x, all(0)) + (msd_log(sum) + rest) + pick(msd_is_nan(x), x, all(0));
}

INLINE vec unary_of(const enum msd_native_unary op, vec x, float a, float b)
{
	switch (op) {
	case MSD_NATIVE_RELU:
		return most(x, all(0));
	case MSD_NATIVE_LEAKY:
		return pick(x < all(0), x * all(a), x);
	case MSD_NATIVE_CLIP:
		return least(most(x, all(a)), all(b));
	case MSD_NATIVE_ABS:
		return msd_abs(x);
	case MSD_NATIVE_NEG:
		return -x;
	case MSD_NATIVE_SQRT:
		return sqrt_of(x);
	case MSD_NATIVE_RECIPROCAL:
		return all(1) / x;
	case MSD_NATIVE_EXP:
		return msd_exp(x);
	case MSD_NATIVE_LOG:
		return msd_log(x);
	case MSD_NATIVE_SIGMOID:
		return msd_sigmoid(x);
	case MSD_NATIVE_TANH:
		return msd_tanh(x);
	case MSD_NATIVE_ERF:
		return msd_erf(x);
	case MSD_NATIVE_GELU:
		return all(0.5f) * x * (all(1) + msd_erf(x * all(0x1.6a09e6p-1f)));
	case MSD_NATIVE_GELU_TANH:
		return gelu_tanh(x);
	case MSD_NATIVE_HARD_SIGMOID:
		return hard_sigmoid(x, a, b);
	case MSD_NATIVE_HARD_SWISH:
		return x * hard_sigmoid(x, a, b);
	case MSD_NATIVE_ELU:
		return pick(x > all(0), x, all(a) * msd_expm1_low(least(x, all(0))));
	case MSD_NATIVE_SOFTPLUS:
		return softplus(x);
	case MSD_NATIVE_SILU:
		return x / (all(1) + all(2) * msd_half_exp(-x));
	case MSD_NATIVE_CUBE:
		return x * x * x;
	case MSD_NATIVE_COPY:
		break;
	}
	return x;
}

/* Vectors side by side: CMakeLists.txt lets the compiler mix their instructions, which
 * hides the latency of long functions. */
enum { SIDE = 4 };

INLINE void each(const enum msd_native_unary op, const float *x, size_t n, float a,
		 float b, float *y)
{
	size_t i = 0;

	for (; i + (size_t)SIDE * LANES <= n; i += (size_t)SIDE * LANES) {
		vec v[SIDE];

#pragma GCC unroll 4
		for (size_t k = 0; k < SIDE; k++)
			v[k] = unary_of(op, load(x + i + k * LANES), a, b);
#pragma GCC unroll 4
		for (size_t k = 0; k < SIDE; k++)
			store(y + i + k * LANES, v[k]);
	}
	for (; i + LANES <= n; i += LANES)
		store(y + i, unary_of(op, load(x + i), a, b));
	if (i < n) {
		const vec last = load_some(x + i, n - i, 0);

		store_some(y + i, unary_of(op, last, a, b), n - i);
	}
}

#define CASE(op)                                                                       \
	case op:                                                                       \
		each(op, x, n, a, b, y);                                               \
		break;

void LEVEL(unary)(enum msd_native_unary op, const float *x, size_t n, float a, float b,
		  float *y)
{
	switch (op) {
		CASE(MSD_NATIVE_RELU)
		CASE(MSD_NATIVE_LEAKY)
		CASE(MSD_NATIVE_CLIP)
		CASE(MSD_NATIVE_ABS)
		CASE(MSD_NATIVE_NEG)
		CASE(MSD_NATIVE_SQRT)
		CASE(MSD_NATIVE_RECIPROCAL)
		CASE(MSD_NATIVE_EXP)
		CASE(MSD_NATIVE_LOG)
		CASE(MSD_NATIVE_SIGMOID)
		CASE(MSD_NATIVE_TANH)
		CASE(MSD_NATIVE_ERF)
		CASE(MSD_NATIVE_GELU)
		CASE(MSD_NATIVE_GELU_TANH)
		CASE(MSD_NATIVE_HARD_SIGMOID)
		CASE(MSD_NATIVE_HARD_SWISH)
		CASE(MSD_NATIVE_ELU)
		CASE(MSD_NATIVE_SOFTPLUS)
		CASE(MSD_NATIVE_SILU)
		CASE(MSD_NATIVE_CUBE)
		CASE(MSD_NATIVE_COPY)
	}
}

#undef CASE

INLINE vec binary_of(const enum msd_native_binary op, vec a, vec b)
{
	switch (op) {
	case MSD_NATIVE_ADD:
		return a + b;
	case MSD_NATIVE_SUB:
		return a - b;
	case MSD_NATIVE_MUL:
		return a * b;
	case MSD_NATIVE_DIV:
		return a / b;
	case MSD_NATIVE_MAX:
		return pick((a > b) | msd_is_nan(a), a, b);
	case MSD_NATIVE_MIN:
		return pick((a < b) | msd_is_nan(a), a, b);
	case MSD_NATIVE_SQUARED_DIFFERENCE:
		return (a - b) * (a - b);
	case MSD_NATIVE_SLOPE:
		break;
	}
	return pick(a < all(0), a * b, a);
}

INLINE vec next(const float *p, const size_t step, size_t i)
{
	return step != 0 ? load(p + i) : all(p[0]);
}

INLINE vec rest(const float *p, const size_t step, size_t i, size_t n)
{
	return step != 0 ? load_some(p + i, n, 0) : all(p[0]);
}

INLINE void pairs(const enum msd_native_binary op, const float *a, const size_t a_step,
		  const float *b, const size_t b_step, size_t n, float *y)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		store(y + i, binary_of(op, next(a, a_step, i), next(b, b_step, i)));
	if (i < n) {
		const vec last = binary_of(op, rest(a, a_step, i, n - i),
					   rest(b, b_step, i, n - i));

		store_some(y + i, last, n - i);
	}
}

INLINE void any_steps(const enum msd_native_binary op, const float *a, size_t a_step,
		      const float *b, size_t b_step, size_t n, float *y)
{
	if (a_step != 0 && b_step != 0) {
		pairs(op, a, 1, b, 1, n, y);
	} else if (a_step != 0) {
		pairs(op, a, 1, b, 0, n, y);
	} else if (b_step != 0) {
		pairs(op, a, 0, b, 1, n, y);
	} else {
		pairs(op, a, 0, b, 0, n, y);
	}
}

#define CASE(op)                                                                       \
	case op:                                                                       \
		any_steps(op, a, a_step, b, b_step, n, y);                             \
		break;

void LEVEL(binary)(enum msd_native_binary op, const float *a, size_t a_step,
		   const float *b, size_t b_step, size_t n, float *y)
{
	switch (op) {
		CASE(MSD_NATIVE_ADD)
		CASE(MSD_NATIVE_SUB)
		CASE(MSD_NATIVE_MUL)
		CASE(MSD_NATIVE_DIV)
		CASE(MSD_NATIVE_MAX)
		CASE(MSD_NATIVE_MIN)
		CASE(MSD_NATIVE_SQUARED_DIFFERENCE)
		CASE(MSD_NATIVE_SLOPE)
	}
}

void LEVEL(affine)(const float *x, size_t n, float factor, float addend, float *y)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		store(y + i, load(x + i) * all(factor) + all(addend));
	if (i < n) {
		const vec last = load_some(x + i, n - i, 0);

		store_some(y + i, last * all(factor) + all(addend), n - i);
	}
}
