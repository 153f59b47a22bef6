/*
 * Bytes become units for products, or floats, and floats become bytes. The last lanes
 * of a row go through a buffer: no vector reads or writes beyond it.
 */
#include "runtime/engine/native/level/integers.h"

enum { D, H, W };

/* Bytes @i * step and on. */
INLINE ivec load_steps(const uint8_t *x, const size_t step, size_t i)
{
	typedef svec shorts_at __attribute__((aligned(1), may_alias));

	if (step == 1)
		return load_bytes(x + i);
	return __builtin_convertvector(*(const shorts_at *)(x + 2 * i) & 0xff, ivec);
}

/* The columns of one phase of a row, from @step bytes to the next. The last vector of
 * two steps would read a byte too much. */
INLINE void pair_phase(const struct msd_native_bytes bytes, const uint8_t *x0,
		       const uint8_t *x1, const size_t step, size_t n, unit_at *to)
{
	const struct msd_native_bytes x = bytes;
	size_t i = 0;

	for (; step <= 2 && i + LANES + step <= n + 1; i += LANES) {
		const ivec low = values_of(load_steps(x0, step, i), x);
		const ivec high =
			x1 != NULL ? values_of(load_steps(x1, step, i), x) : (ivec){0};

		store_units(to + i, pair(low, high));
	}
	for (; i < n; i++) {
		const int32_t low = (x0[i * step] ^ x.flip) - x.zero;
		const int32_t high = x1 != NULL ? (x1[i * step] ^ x.flip) - x.zero : 0;

		to[i] = (int32_t)((uint32_t)(low & 0xffff) | (uint32_t)high << 16);
	}
}

/* As pad_plane(): columns that no window reads are left out. */
static void pad_phase(const struct msd_native_window *w,
		      const struct msd_native_bytes *x, const uint8_t *x0,
		      const uint8_t *x1, size_t phase, unit_at *to)
{
	const size_t step = w->stride[W];
	const size_t first = (w->before[W] + step - 1 - phase) / step;
	const size_t i = first * step + phase - w->before[W];
	size_t n = i < w->in[W] ? (w->in[W] - i + step - 1) / step : 0;

	if (first >= w->columns || n == 0)
		return;
	n = n < w->columns - first ? n : w->columns - first;
	x0 += i;
	x1 = x1 != NULL ? x1 + i : NULL;
	to += first;
	if (step == 1) {
		pair_phase(*x, x0, x1, 1, n, to);
	} else if (step == 2) {
		pair_phase(*x, x0, x1, 2, n, to);
	} else {
		pair_phase(*x, x0, x1, step, n, to);
	}
}

void LEVEL(integer_pair_plane)(const struct msd_native_window *w,
			       const struct msd_native_bytes *x, const uint8_t *x1,
			       float *ret)
{
	const size_t row = w->columns * w->stride[W];
	const size_t phases = w->kernel[W] == 1 ? 1 : w->stride[W];
	const uint8_t *x0 = x->p;

	if (w->is_direct) {
		LEVEL(integer_pair_rows)(x, x1, NULL, w->plane, ret);
		return;
	}
	memset(ret, 0, w->plane * sizeof(*ret));
	for (size_t line = 0; line < w->in[D] * w->in[H]; line++) {
		const size_t d = line / w->in[H] + w->before[D];
		const size_t h = line % w->in[H] + w->before[H];
		unit_at *to = (unit_at *)(void *)ret + (d * w->rows[1] + h) * row;
		const size_t at = line * w->in[W];

		if (d >= w->rows[0] || h >= w->rows[1] ||
		    (w->kernel[H] == 1 && h % w->stride[H] != 0))
			continue;
		for (size_t p = 0; p < phases; p++) {
			pad_phase(w, x, x0 + at, x1 != NULL ? x1 + at : NULL, p,
				  to + p * w->columns);
		}
	}
}

/* The halves of a unit are two int16 in memory, the first one low. */
void LEVEL(integer_pair_row)(const struct msd_native_bytes *x, size_t n, float *ret)
{
	const int16_t zero = (int16_t)x->zero;
	int16_t_at *to = (int16_t_at *)(void *)ret;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		const svec v = load_shorts(x->p + i) ^ (int16_t)x->flip;

		*(svec_at *)(to + i) = v - zero;
	}
	for (; i < n; i++)
		to[i] = (int16_t)((x->p[i] ^ x->flip) - zero);
	if (n % 2 != 0)
		to[n] = 0;
}

void LEVEL(integer_pair_rows)(const struct msd_native_bytes *x, const uint8_t *x1,
			      const int32_t *zeros, size_t n, float *ret)
{
	unit_at *to = (unit_at *)(void *)ret;

	if (zeros == NULL) {
		pair_phase(*x, x->p, x1, 1, n, to);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const int32_t low = (x->p[i] ^ x->flip) - zeros[i];
		const int32_t high = x1 != NULL ? (x1[i] ^ x->flip) - zeros[i] : 0;

		to[i] = (int32_t)((uint32_t)(low & 0xffff) | (uint32_t)high << 16);
	}
}

void LEVEL(integer_quantize)(const float *x, size_t n, float scale,
			     struct msd_native_rounding r, uint8_t *y)
{
	const struct msd_native_rounding own = r;
	const vec by = all(scale);
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		store_bytes(y + i, round_bytes(load(x + i) / by, own));
	if (i < n) {
		store_some_bytes(y + i,
				 round_bytes(load_some(x + i, n - i, 0) / by, own),
				 n - i);
	}
}

void LEVEL(integer_dequantize)(const struct msd_native_bytes *x, size_t n, float *y)
{
	const struct msd_native_bytes own = *x;
	const vec scale = all(own.scale);
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		store(y + i, to_floats(values_of(load_bytes(own.p + i), own)) * scale);
	}
	if (i < n) {
		const ivec v = values_of(load_some_bytes(own.p + i, n - i), own);

		store_some(y + i, to_floats(v) * scale, n - i);
	}
}

INLINE vec value_at(const struct msd_native_bytes x, const size_t step, size_t i,
		    size_t left)
{
	const ivec v = step == 0 ? all_units(x.p[0]) : load_some_bytes(x.p + i, left);

	return to_floats(values_of(v, x)) * all(x.scale);
}

INLINE void run_binary(const enum msd_native_quantized op,
		       const struct msd_native_pair in, size_t n, float scale,
		       const struct msd_native_rounding r, uint8_t *y)
{
	for (size_t i = 0; i < n; i += LANES) {
		const size_t left = n - i;
		const vec va = value_at(in.a, in.a_step, i, left);
		const vec vb = value_at(in.b, in.b_step, i, left);
		const vec v = op == MSD_NATIVE_QUANTIZED_ADD   ? va + vb
			      : op == MSD_NATIVE_QUANTIZED_SUB ? va - vb
							       : va * vb;

		store_some_bytes(y + i, round_bytes(v / all(scale), r), left);
	}
}

void LEVEL(integer_binary)(enum msd_native_quantized op,
			   const struct msd_native_pair *in, size_t n, float scale,
			   struct msd_native_rounding r, uint8_t *y)
{
	if (op == MSD_NATIVE_QUANTIZED_ADD && in->a_step == 1 && in->b_step == 1) {
		const struct msd_native_pair rows = {in->a, in->b, 1, 1};

		run_binary(MSD_NATIVE_QUANTIZED_ADD, rows, n, scale, r, y);
	} else {
		run_binary(op, *in, n, scale, r, y);
	}
}

void LEVEL(integer_table)(const uint8_t *x, size_t n, const uint8_t *table, uint8_t *y)
{
	for (size_t i = 0; i < n; i++)
		y[i] = table[x[i]];
}

void LEVEL(integer_range)(const float *x, size_t n, float *least_, float *most_)
{
	vec low = all(*least_);
	vec high = all(*most_);

	for (size_t i = 0; i < n; i += LANES) {
		const vec v =
			n - i < LANES ? load_some(x + i, n - i, *least_) : load(x + i);

		low = least(low, v);
		high = most(high, v);
	}
	for (size_t i = 0; i < LANES; i++) {
		*least_ = low[i] < *least_ ? low[i] : *least_;
		*most_ = high[i] > *most_ ? high[i] : *most_;
	}
}
