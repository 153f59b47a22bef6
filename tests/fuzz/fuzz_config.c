#include "daemon/supervisor/config/config.h"
#include "daemon/supervisor/config/option_rows.h"
#include "tests/fuzz/fuzz.h"

/* Many values may be refused, and the text of each must be printable, too. */
int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_options o = {0};
	struct msd_diag d = {0};
	struct msd_buf text = {0};

	msd_option_defaults(&o);
	msd_err err =
		msd_config_parse(&o, "file", (struct msd_span){data, n}, false, &d);
	if (err == MSD_OK)
		msd_options_write(&o, &text);
	msd_buf_finish(&text);
	msd_diag_finish(&d);
	msd_options_finish(&o);
	return err == MSD_OK;
}
