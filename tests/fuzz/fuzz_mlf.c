#include "artifact/mlf/mlf.h"
#include "tests/fuzz/fuzz.h"

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_span file = {data, n};
	struct msd_buf text = {0};
	struct msd_mlf m = {0};
	struct msd_diag d = {0};
	msd_err err = msd_mlf_read(file, &m, &d);

	(void)msd_archive_is_model(file);
	msd_diag_finish(&d);
	if (err != MSD_OK)
		return 0;
	msd_mlf_text(&m, &text);
	msd_mlf_json(&m, &text);
	for (size_t i = 0; i < m.n_models; i++) {
		if (m.models[i].graph.n > 0 &&
		    msd_mlf_factory(&m.models[i], &text, NULL) != MSD_OK)
			break; /* what it is made of may be damaged */
	}
	msd_buf_finish(&text);
	msd_mlf_finish(&m);
	return 1;
}
