#include <stdlib.h>
#include <string.h>

#include "proto/frame.h"
#include "tests/fuzz/fuzz.h"

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	uint8_t again[MSD_FRAME_HEADER_BYTES];
	struct msd_diag d = {0};
	struct msd_frame f;

	if (n != MSD_FRAME_HEADER_BYTES)
		return 0;
	msd_err err =
		msd_frame_read(data, MSD_MAX_BODY_BYTES, MSD_MAX_PAYLOAD_BYTES, &f, &d);
	msd_diag_finish(&d);
	if (err != MSD_OK)
		return 0;
	msd_frame_write(f, again); /* a header has one spelling */
	if (memcmp(again, data, sizeof(again)) != 0)
		abort();
	return 1;
}
