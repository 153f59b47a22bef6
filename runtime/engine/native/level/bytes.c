/*
 * Bytes become floats, and floats become bytes. No vector reads or writes beyond a row.
 */
#include "runtime/engine/native/level/integers.h"

void LEVEL(integer_quantize)(const float *x, size_t n, float scale,
			     struct msd_native_rounding r, uint8_t *y)
{
	const struct msd_native_rounding own = r;
	const vec by = all(scale);
	const vec inverse = inverse_of(scale);
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		store_bytes(y + i, divide_bytes(load(x + i), by, inverse, own));
	if (i < n) {
		const vec v = load_some(x + i, n - i, 0);

		store_some_bytes(y + i, divide_bytes(v, by, inverse, own), n - i);
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
	const vec by = all(scale);
	const vec inverse = inverse_of(scale);

	for (size_t i = 0; i < n; i += LANES) {
		const size_t left = n - i;
		const vec va = value_at(in.a, in.a_step, i, left);
		const vec vb = value_at(in.b, in.b_step, i, left);
		const vec v = op == MSD_NATIVE_QUANTIZED_ADD   ? va + vb
			      : op == MSD_NATIVE_QUANTIZED_SUB ? va - vb
							       : va * vb;

		store_some_bytes(y + i, divide_bytes(v, by, inverse, r), left);
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
