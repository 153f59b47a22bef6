#include "artifact/relax/text.h"
#include "tests/fuzz/fuzz.h"

/* The first byte is the era, which chooses the constants' tags. */
int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_relax_image img = {0};
	struct msd_buf text = {0};
	struct msd_diag d = {0};

	if (n == 0)
		return 0;
	enum msd_era era = (enum msd_era)(data[0] % (MSD_ERA_FFI + 1));
	msd_err err =
		msd_relax_image_read((struct msd_span){data + 1, n - 1}, era, &img, &d);
	msd_diag_finish(&d);
	if (err != MSD_OK)
		return 0;
	msd_relax_text(&img, &text); /* follows every index that was checked */
	msd_buf_finish(&text);
	msd_relax_image_finish(&img);
	return 1;
}
