#include "store/manifest/manifest.h"
#include "tests/fuzz/fuzz.h"

static volatile unsigned read_bytes; /* keeps the loop below */

static void touch(const struct msd_vector_tensor *t, uint32_t n)
{
	unsigned sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		for (uint64_t k = 0; k < t[i].bytes; k++)
			sum += t[i].data[k];
	}
	read_bytes = sum;
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_diag d = {0};
	struct msd_edition_manifest m;
	const msd_err err =
		msd_edition_manifest_parse((struct msd_span){data, n}, &m, &d);

	for (uint32_t i = 0; err == MSD_OK && i < m.tests.n; i++) {
		touch(m.tests.at[i].inputs, m.tests.at[i].n_inputs);
		touch(m.tests.at[i].outputs, m.tests.at[i].n_outputs);
	}
	msd_edition_manifest_finish(&m);
	msd_diag_finish(&d);
	return err == MSD_OK;
}
