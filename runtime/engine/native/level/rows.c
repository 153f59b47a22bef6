/*
 * Sums and normalizations of rows. A row has 16 partial sums on every level, element
 * i in sum i % 16, which are added in one fixed tree: results do not depend on the
 * width of vectors. Long rows are added up in double, a stretch at a time.
 */
#include <math.h>

#include "runtime/engine/native/level/level.h"
#include "runtime/engine/native/level/math.h"

enum { SUMS = 16, PARTS = SUMS / LANES, STRETCH = 1024 };

struct sums {
	vec at[PARTS];
};

/* Sum i and i + 8, then i and i + 4, and so on. */
INLINE float tree(const struct sums *s)
{
#if defined(__AVX512F__) && MSD_LANES == 16 || defined(__AVX2__) && MSD_LANES == 8
#if MSD_LANES == 16
	const __m512 all_of = (__m512)s->at[0];
	const __m256 eight =
		_mm512_castps512_ps256(all_of) + _mm512_extractf32x8_ps(all_of, 1);
#else
	const __m256 eight = (__m256)(s->at[0] + s->at[PARTS - 1]);
#endif
	const __m128 four =
		_mm256_castps256_ps128(eight) + _mm256_extractf128_ps(eight, 1);
	const __m128 two = four + _mm_movehl_ps(four, four);

	return two[0] + two[1];
#else
	float at[SUMS];

	for (size_t p = 0; p < PARTS; p++)
		store(at + p * LANES, s->at[p]);
	for (size_t half = SUMS / 2; half > 0; half /= 2) {
		for (size_t i = 0; i < half; i++)
			at[i] += at[i + half];
	}
	return at[0];
#endif
}

/* Kinds of terms: x, x^2, |x|, (x - shift)^2, exp(x - shift). */
enum term { TERM, SQUARE, SIZE, DEVIATION, POWER };

INLINE vec term_of(const enum term kind, vec x, float shift)
{
	switch (kind) {
	case SQUARE:
		return x * x;
	case SIZE:
		return msd_abs(x);
	case DEVIATION:
		x -= all(shift);
		return x * x;
	case POWER:
		return msd_exp_share(x - all(shift));
	case TERM:
		break;
	}
	return x;
}

INLINE void add(struct sums *s, const size_t p, const enum term kind, vec x,
		float shift)
{
	s->at[p] += term_of(kind, x, shift);
}

/* Elements beyond the row count as 0. */
INLINE float sum_stretch(const enum term kind, const float *x, size_t n, float shift)
{
	struct sums s = {{{0}}};
	size_t i = 0;

	for (; i + SUMS <= n; i += SUMS) {
		for (size_t p = 0; p < PARTS; p++)
			add(&s, p, kind, load(x + i + p * LANES), shift);
	}
	for (size_t p = 0; p < PARTS && i + p * LANES < n; p++) {
		const size_t left = n - i - p * LANES;
		const size_t count = left < LANES ? left : LANES;
		const float filler = kind == POWER       ? -__builtin_inff()
				     : kind == DEVIATION ? shift
							 : 0;

		add(&s, p, kind, load_some(x + i + p * LANES, count, filler), shift);
	}
	return tree(&s);
}

INLINE double sum_row(const enum term kind, const float *x, size_t n, float shift)
{
	double sum = 0;

	for (size_t i = 0; i < n; i += STRETCH) {
		const size_t count = n - i < STRETCH ? n - i : STRETCH;

		sum += (double)sum_stretch(kind, x + i, count, shift);
	}
	return sum;
}

INLINE vec further(const bool is_high, vec a, vec b)
{
	return is_high ? most(a, b) : least(a, b);
}

/* The largest or smallest lane; all are numbers. */
INLINE float widest(const bool is_high, vec v)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	return is_high ? _mm512_reduce_max_ps((__m512)v)
		       : _mm512_reduce_min_ps((__m512)v);
#else
	float at[LANES];

	store(at, v);
	for (size_t half = LANES / 2; half > 0; half /= 2) {
		for (size_t i = 0; i < half; i++) {
			const bool is_other =
				is_high ? at[i + half] > at[i] : at[i + half] < at[i];

			at[i] = is_other ? at[i + half] : at[i];
		}
	}
	return at[0];
#endif
}

/* The largest or smallest, or a value that is not a number. Zeros are positive: their
 * order depends on the level. */
INLINE float extreme(const bool is_high, const float *x, size_t n)
{
	const float start = is_high ? -__builtin_inff() : __builtin_inff();
	vec top[2] = {all(start), all(start)};
	ivec is_nan = {0};

	for (size_t i = 0; i < n; i += 2 * LANES) {
		const bool is_whole = n - i >= 2 * LANES;
		const size_t left = n - i > LANES ? n - i - LANES : 0;
		const vec a = is_whole ? load(x + i) : load_some(x + i, n - i, start);
		const vec b = is_whole ? load(x + i + LANES)
				       : load_some(x + i + LANES, left, start);

		is_nan |= msd_is_nan(a) | msd_is_nan(b);
		top[0] = further(is_high, top[0], a);
		top[1] = further(is_high, top[1], b);
	}
	if (msd_any(is_nan))
		return __builtin_nanf("");
	return widest(is_high, further(is_high, top[0], top[1])) + 0.0f;
}

static float highest(const float *x, size_t n)
{
	return extreme(true, x, n);
}

static float lowest(const float *x, size_t n)
{
	return extreme(false, x, n);
}

double LEVEL(reduce)(enum msd_native_reduce kind, const float *x, size_t n)
{
	switch (kind) {
	case MSD_NATIVE_SUM:
		return sum_row(TERM, x, n, 0);
	case MSD_NATIVE_SQUARES:
		return sum_row(SQUARE, x, n, 0);
	case MSD_NATIVE_ABS_SUM:
		return sum_row(SIZE, x, n, 0);
	case MSD_NATIVE_HIGHEST:
		return (double)highest(x, n);
	case MSD_NATIVE_LOWEST:
		break;
	}
	return (double)lowest(x, n);
}

INLINE vec reduce_of(const enum msd_native_reduce kind, vec y, vec x)
{
	switch (kind) {
	case MSD_NATIVE_SUM:
		return y + x;
	case MSD_NATIVE_SQUARES:
		return msd_fused(x, x, y);
	case MSD_NATIVE_ABS_SUM:
		return y + msd_abs(x);
	case MSD_NATIVE_HIGHEST:
		return pick(msd_is_nan(x), x, most(y, x));
	case MSD_NATIVE_LOWEST:
		break;
	}
	return pick(msd_is_nan(x), x, least(y, x));
}

static float begin_of(enum msd_native_reduce kind)
{
	if (kind == MSD_NATIVE_HIGHEST)
		return -__builtin_inff();
	return kind == MSD_NATIVE_LOWEST ? __builtin_inff() : 0;
}

INLINE void columns_of(const enum msd_native_reduce kind, const float *x, size_t n,
		       size_t inner, float *y)
{
	for (size_t i = 0; i < inner; i++)
		y[i] = begin_of(kind);
	for (size_t r = 0; r < n; r++, x += inner) {
		size_t i = 0;

		for (; i + LANES <= inner; i += LANES)
			store(y + i, reduce_of(kind, load(y + i), load(x + i)));
		if (i < inner) {
			const vec last = reduce_of(kind, load_some(y + i, inner - i, 0),
						   load_some(x + i, inner - i, 0));

			store_some(y + i, last, inner - i);
		}
	}
}

void LEVEL(reduce_columns)(enum msd_native_reduce kind, const float *x, size_t n,
			   size_t inner, float *y)
{
	switch (kind) {
	case MSD_NATIVE_SUM:
		columns_of(MSD_NATIVE_SUM, x, n, inner, y);
		break;
	case MSD_NATIVE_SQUARES:
		columns_of(MSD_NATIVE_SQUARES, x, n, inner, y);
		break;
	case MSD_NATIVE_ABS_SUM:
		columns_of(MSD_NATIVE_ABS_SUM, x, n, inner, y);
		break;
	case MSD_NATIVE_HIGHEST:
		columns_of(MSD_NATIVE_HIGHEST, x, n, inner, y);
		break;
	case MSD_NATIVE_LOWEST:
		columns_of(MSD_NATIVE_LOWEST, x, n, inner, y);
		break;
	}
}

/* y = exp(x - shift) of at most STRETCH elements, and its sum */
INLINE float powers_stretch(const float *x, size_t n, float shift, float *y)
{
	struct sums s = {{{0}}};
	size_t i = 0;

	for (; i + SUMS <= n; i += SUMS) {
		for (size_t p = 0; p < PARTS; p++) {
			const vec v =
				msd_exp_share(load(x + i + p * LANES) - all(shift));

			store(y + i + p * LANES, v);
			s.at[p] += v;
		}
	}
	for (size_t p = 0; p < PARTS && i + p * LANES < n; p++) {
		const size_t left = n - i - p * LANES;
		const size_t count = left < LANES ? left : LANES;
		const vec v = msd_exp_share(
			load_some(x + i + p * LANES, count, -__builtin_inff()) -
			all(shift));

		store_some(y + i + p * LANES, v, count);
		s.at[p] += v; /* 0 beyond the row */
	}
	return tree(&s);
}

static double powers(const float *x, size_t n, float shift, float *y)
{
	double sum = 0;

	for (size_t i = 0; i < n; i += STRETCH) {
		const size_t count = n - i < STRETCH ? n - i : STRETCH;

		sum += (double)powers_stretch(x + i, count, shift, y + i);
	}
	return sum;
}

void LEVEL(softmax)(const float *x, size_t n, bool is_log, float *y)
{
	const float top = highest(x, n);

	if (is_log) {
		const double sum = sum_row(POWER, x, n, top);
		const vec log_sum = all((float)log(sum));

		for (size_t i = 0; i < n; i += LANES) {
			const size_t left = n - i;
			const vec v =
				left >= LANES ? load(x + i) : load_some(x + i, left, 0);
			store_some(y + i, v - all(top) - log_sum,
				   left < LANES ? left : LANES);
		}
		return;
	}
	const double sum = powers(x, n, top, y);
	LEVEL(affine)(y, n, (float)(1 / sum), 0, y);
}

INLINE vec select_flagged(const struct msd_native_scores *s, vec x, size_t i,
			  const size_t n)
{
	ivec is_set = {0};

	for (size_t k = 0; k < n; k++)
		is_set[k] = s->flags[(i + k) * s->flags_step] != 0 ? -1 : 0;
	return s->flags_hide ? pick(is_set, all(s->fill), x)
			     : pick(is_set, x, all(s->fill));
}

INLINE vec add_mask(const struct msd_native_scores *s, vec x, size_t i, const size_t n)
{
	const vec low = all(-__builtin_inff());
	vec mask;

	if (s->mask_step == 0) {
		mask = all(*s->mask);
	} else {
		mask = n == LANES ? load(s->mask + i) : load_some(s->mask + i, n, 0);
	}
	return s->mask_hides ? pick(mask == low, low, x + mask) : x + mask;
}

/* Scores @i .. @i + @n - 1; @n is at most LANES. */
INLINE vec score_of(const struct msd_native_scores *s, const bool is_plain, vec x,
		    size_t i, const size_t n)
{
	x *= all(s->scale);
	if (is_plain)
		return x;
	if (s->cap > 0)
		x = all(s->cap) * msd_tanh(x / all(s->cap));
	if (s->flags != NULL)
		x = select_flagged(s, x, i, n);
	return s->mask != NULL ? add_mask(s, x, i, n) : x;
}

/* The largest score, or one that is not a number. */
INLINE float score_row(const struct msd_native_scores *s, const bool is_plain, size_t n,
		       float *x)
{
	float at[LANES + LANES];
	vec top = all(-__builtin_inff());
	ivec is_nan = {0};
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		const vec v = score_of(s, is_plain, load(x + i), i, LANES);

		store(x + i, v);
		is_nan |= msd_is_nan(v);
		top = most(top, v);
	}
	store(at, pick(is_nan, all(__builtin_nanf("")), top));
	store(at + LANES, all(-__builtin_inff()));
	if (i < n) {
		const vec v =
			score_of(s, is_plain, load_some(x + i, n - i, 0), i, n - i);

		store_some(x + i, v, n - i);
		store_some(at + LANES, v, n - i);
	}
	return highest(at, (size_t)2 * LANES);
}

bool LEVEL(soften)(const struct msd_native_scores *s, size_t n, float *x)
{
	const bool is_plain = s->cap <= 0 && s->flags == NULL && s->mask == NULL;
	const float top =
		is_plain ? score_row(s, true, n, x) : score_row(s, false, n, x);
	const double sum = powers(x, n, top, x);
	LEVEL(affine)(x, n, (float)(1 / sum), 0, x);
	return top != -__builtin_inff();
}

/* Element i of a row is added to sum i % 16, as in reduce(). */
INLINE float dot(const float *a, const float *b, size_t n)
{
	struct sums s = {{{0}}};
	size_t i = 0;

	for (; i + SUMS <= n; i += SUMS) {
		for (size_t p = 0; p < PARTS; p++) {
			s.at[p] = msd_fused(load(a + i + p * LANES),
					    load(b + i + p * LANES), s.at[p]);
		}
	}
	for (size_t p = 0; p < PARTS && i + p * LANES < n; p++) {
		const size_t left = n - i - p * LANES;
		const size_t count = left < LANES ? left : LANES;

		s.at[p] = msd_fused(load_some(a + i + p * LANES, count, 0),
				    load_some(b + i + p * LANES, count, 0), s.at[p]);
	}
	return tree(&s);
}

void LEVEL(dots)(const float *a, const float *rows, size_t row, size_t n_rows, size_t n,
		 float *y)
{
	for (size_t i = 0; i < n_rows; i++)
		y[i] = dot(a, rows + i * row, n);
}

static void shift_and_scale(const struct msd_native_norm *p, const float *x, float mean,
			    float inverse, float *y)
{
	for (size_t i = 0; i < p->n; i += LANES) {
		const size_t left = p->n - i < LANES ? p->n - i : LANES;
		const bool is_full = left == LANES;
		vec v = is_full ? load(x + i) : load_some(x + i, left, 0);

		v = (v - all(mean)) * all(inverse);
		if (p->scale != NULL) {
			v = v * (is_full ? load(p->scale + i)
					 : load_some(p->scale + i, left, 0));
		}
		if (p->shift != NULL) {
			v = v + (is_full ? load(p->shift + i)
					 : load_some(p->shift + i, left, 0));
		}
		if (is_full) {
			store(y + i, v);
		} else {
			store_some(y + i, v, left);
		}
	}
}

void LEVEL(norm)(const struct msd_native_norm *p, const float *x, float *y,
		 float *ret_mean, float *ret_inverse)
{
	const double mean = sum_row(TERM, x, p->n, 0) / (double)p->n;
	/* Deviations are exact from the rounded mean. The squares are corrected by the
	 * mean's rounding. */
	const double lack = mean - (double)(float)mean;
	const double squares = sum_row(DEVIATION, x, p->n, (float)mean);
	const double variance = squares / (double)p->n - lack * lack;
	const double inverse =
		1 / __builtin_sqrt((variance > 0 ? variance : 0 * variance) +
				   (double)p->eps);

	if (ret_mean != NULL)
		*ret_mean = (float)mean;
	if (ret_inverse != NULL)
		*ret_inverse = (float)inverse;
	shift_and_scale(p, x, (float)mean, (float)inverse, y);
}
