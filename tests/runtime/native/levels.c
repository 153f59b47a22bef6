#include "tests/runtime/native/levels.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/native/select.h"

#ifdef MSD_HAS_WIDE
extern const struct msd_native_kernels msd_native_wide_kernels;
#endif

size_t levels_find(const struct msd_native_kernels *ret[static LEVELS_MOST])
{
	static const char *const names[] = {"vnni", "avx512", "avx2", "neon", "base"};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct msd_native_kernels *k = msd_native_level(names[i]);

		if (k != NULL) {
			ret[n++] = k;
		} else if (msd_native_knows(names[i])) {
			(void)fprintf(stderr, "left out: no %s here\n", names[i]);
		}
	}
#ifdef MSD_HAS_WIDE
	if (msd_native_level("avx2") != NULL && msd_native_level("avx512") == NULL)
		ret[n++] = &msd_native_wide_kernels;
#endif
	return n;
}

bool levels_is_fused(const struct msd_native_kernels *k)
{
	return strcmp(k->name, "base") != 0;
}

float *levels_numbers(size_t n, unsigned seed)
{
	float *p = malloc((n + 1) * sizeof(*p));
	uint32_t state = seed * 2654435761u + 1;

	cr_assert_not_null(p);
	for (size_t i = 0; i < n; i++) {
		state = state * 1664525u + 1013904223u;
		p[i] = (float)(state >> 8) / (float)(1u << 23) - 1;
	}
	return p;
}
