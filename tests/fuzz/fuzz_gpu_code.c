#include "artifact/gpu/code.h"
#include "artifact/json.h"
#include "tests/fuzz/fuzz.h"

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_gpu_code code = {0};
	struct msd_buf text = {0};
	struct msd_diag d = {0};
	msd_err err = msd_gpu_code_read((struct msd_span){data, n}, &code, &d);

	msd_diag_finish(&d);
	if (err != MSD_OK)
		return 0;
	msd_gpu_code_text(&code, 0, &text);
	msd_json_put(&text, msd_gpu_code_json(&code), JSON_COMPACT);
	msd_buf_finish(&text);
	msd_gpu_code_finish(&code);
	return 1;
}
