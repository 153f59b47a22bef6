#include "artifact/relay/text.h"
#include "tests/fuzz/fuzz.h"

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_relay_image img = {0};
	struct msd_diag d = {0};
	msd_err err = msd_relay_image_read((struct msd_span){data, n}, &img, &d);
	struct msd_buf text = {0};

	msd_diag_finish(&d);
	if (err != MSD_OK)
		return 0;
	msd_relay_text(&img, &text);
	msd_buf_finish(&text);
	msd_relay_image_finish(&img);
	return 1;
}
