/* Copies by strides, against the places that each element has. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "runtime/kernel/walk.h"

enum { NDIM = 4, ELEMENTS = 3 * 17 * 5 * 18, MOST = 16 };

static uint8_t from[ELEMENTS * MOST], to[ELEMENTS * MOST];

static void expect_turned(const size_t order[NDIM], size_t size)
{
	static const int64_t in[NDIM] = {3, 17, 5, 18};
	int64_t own[NDIM];
	int64_t dims[NDIM];
	int64_t steps[NDIM];
	struct msd_walk w;

	msd_walk_steps(in, NDIM, own);
	for (size_t i = 0; i < NDIM; i++) {
		dims[i] = in[order[i]];
		steps[i] = own[order[i]];
	}
	msd_walk_init(&w, dims, NDIM);
	msd_walk_operand(&w, steps, 0);
	msd_walk_merge(&w);
	memset(to, 0xff, sizeof(to));
	msd_walk_copy(&w, to, from, size);
	for (size_t i = 0; i < ELEMENTS; i++) {
		const size_t at =
			(size_t)(i / (size_t)(dims[1] * dims[2] * dims[3])) *
				(size_t)steps[0] +
			i / (size_t)(dims[2] * dims[3]) % (size_t)dims[1] *
				(size_t)steps[1] +
			i / (size_t)dims[3] % (size_t)dims[2] * (size_t)steps[2] +
			i % (size_t)dims[3] * (size_t)steps[3];

		cr_assert(memcmp(to + i * size, from + at * size, size) == 0,
			  "element %zu of %zu bytes, order %zu %zu %zu %zu", i, size,
			  order[0], order[1], order[2], order[3]);
	}
	cr_assert(size == MOST || to[ELEMENTS * size] == 0xff);
}

Test(walk, copies_each_order_of_axes)
{
	static const size_t sizes[] = {1, 2, 4, 8, 16};

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 7 + i / 251);
	for (size_t i = 0; i < 256; i++) {
		const size_t order[NDIM] = {i % 4, i / 4 % 4, i / 16 % 4, i / 64};
		unsigned seen = 0;

		for (size_t k = 0; k < NDIM; k++)
			seen |= 1u << order[k];
		for (size_t k = 0; seen == 15 && k < 5; k++)
			expect_turned(order, sizes[k]);
	}
}
