#ifndef MSD_RUNTIME_ENGINE_NATIVE_LEVEL_SUMS_H
#define MSD_RUNTIME_ENGINE_NATIVE_LEVEL_SUMS_H
/* How finished sums become elements. */
#include "runtime/engine/native/level/integers.h"

/* A vector of a row: the arrays by column have elements for all lanes. */
INLINE vec part_of(const struct msd_native_sums *s, const float *parts, size_t row,
		   size_t column)
{
	return s->by_column ? load(parts + column) : all(parts[row]);
}

/* Element @column of @y and on, @left of them. */
INLINE void put_vector(const struct msd_native_sums *s, ivec sum, size_t row,
		       size_t column, size_t left, void *y)
{
	const size_t n = left < LANES ? left : LANES;

	if (s->scales == NULL) {
		memcpy((int32_t *)y + column, &sum, n * sizeof(int32_t));
		return;
	}
	vec v = to_floats(sum) * part_of(s, s->scales, row, column);
	if (s->offsets != NULL)
		v = v + part_of(s, s->offsets, row, column);
	if (s->is_float) {
		v = least(most(v, all(s->rounding.low)), all(s->rounding.high));
		memcpy((float *)y + column, &v, n * sizeof(float));
	} else {
		store_some_bytes((uint8_t *)y + column, round_bytes(v, s->rounding),
				 left);
	}
}

#endif
