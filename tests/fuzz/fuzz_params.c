#include "artifact/params/params.h"
#include "artifact/params/tensor_blob.h"
#include "tests/fuzz/fuzz.h"

static volatile uint64_t sum; /* nobody reads it: the bytes must be read */

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_params p = {0};
	struct msd_diag d = {0};
	msd_err err = msd_params_read_file((struct msd_span){data, n}, &p, &d);

	msd_diag_finish(&d);
	if (err != MSD_OK)
		return 0;
	for (size_t i = 0; i < p.n; i++) {
		for (size_t k = 0; k < p.tensors[i].data.n; k++)
			sum += p.tensors[i].data.p[k];
	}
	msd_params_finish(&p);
	return 1;
}
