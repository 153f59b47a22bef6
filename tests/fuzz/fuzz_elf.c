#include "artifact/inspect/inspect.h"
#include "tests/fuzz/fuzz.h"

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_inspect *in = NULL;
	struct msd_buf text = {0};
	struct msd_diag d = {0};
	msd_err err =
		msd_inspect_read((struct msd_span){data, n}, MSD_ERA_UNSAID, &in, &d);

	msd_diag_finish(&d);
	if (err != MSD_OK)
		return 0;
	msd_inspect_text(in, &text);
	msd_inspect_json(in, &text);
	msd_buf_finish(&text);
	msd_inspect_destroy(in);
	return 1;
}
