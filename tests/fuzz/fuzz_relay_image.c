#include "runtime/artifact/relay_image.h"
#include "tests/fuzz/fuzz.h"

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_relay_image img = {0};
	struct msd_diag d = {0};
	msd_err err = msd_relay_image_read((struct msd_span){data, n}, &img, &d);
	volatile uint64_t sum = 0;

	msd_diag_finish(&d);
	if (err != MSD_OK)
		return 0;
	for (uint32_t i = 0; i < img.n_funcs; i++)
		for (uint32_t k = 0; k < img.funcs[i].n_code; k++)
			for (uint32_t f = 0; f < img.funcs[i].code[k].n_fields; f++)
				sum += (uint64_t)img.funcs[i].code[k].fields[f];
	msd_relay_image_finish(&img);
	return 1;
}
