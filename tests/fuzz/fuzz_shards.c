#include "artifact/params/shards.h"
#include "tests/fuzz/fuzz.h"

static volatile uint64_t sum; /* nobody reads it: the bytes must be read */

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_shards s = {0};
	struct msd_diag d = {0};
	msd_err err = msd_shards_read((struct msd_span){data, n}, &s, &d);

	if (err == MSD_OK)
		err = msd_shards_check(&s, &d);
	msd_diag_finish(&d);
	for (size_t i = 0; i < s.n; i++) {
		for (size_t k = 0; k < s.records[i].tensor.data.n; k++)
			sum += s.records[i].tensor.data.p[k];
	}
	msd_shards_finish(&s);
	return err == MSD_OK;
}
