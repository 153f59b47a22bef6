#include <stdlib.h>

#include "client/cli/values/npy.h"
#include "tests/fuzz/fuzz.h"

static volatile unsigned read_bytes; /* keeps the loop below */

/* Read @file as @as and touch every byte of the elements. */
static int reads(struct msd_span file, const struct msd_dtype *as)
{
	struct msd_diag d = {0};
	struct msd_npy npy;
	unsigned sum = 0;

	msd_err err = msd_npy_read(file, as, &npy, &d);
	msd_diag_finish(&d);
	if (err != MSD_OK)
		return 0;
	if (npy.ndim > MSD_MAX_NDIM || npy.bytes > file.n)
		abort();
	for (uint64_t i = 0; i < npy.bytes; i++)
		sum += npy.data[i];
	msd_npy_finish(&npy);
	read_bytes = sum;
	return 1;
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	static const struct msd_dtype bfloat16 = {MSD_DT_BFLOAT, 16, 1};
	struct msd_span file = {data, n};

	(void)reads(file, &bfloat16);
	return reads(file, NULL);
}
