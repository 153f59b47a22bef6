#include "daemon/supervisor/module/workers/run_limit.h"

#include "proto/base/duration.h"
#include "proto/unpack.h"

msd_err msd_run_limit_parse(const char *text, struct msd_run_limit *ret,
			    struct msd_diag *d)
{
	uint64_t ms = 0;
	const msd_err err = msd_duration_parse(text, &ms, d);

	if (err != MSD_OK)
		return err;
	if (ms > UINT32_MAX) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: expected less than 49 days, or unlimited",
				    text);
	}
	*ret = (struct msd_run_limit){.is_said = true, .ms = (uint32_t)ms};
	return MSD_OK;
}

msd_err msd_run_limit_read(const msgpack_object *map, struct msd_run_limit *ret,
			   struct msd_diag *d)
{
	uint64_t ms = 0;

	if (msd_map_find(map, "max_run_ms") == NULL)
		return MSD_OK;
	const msd_err err = msd_map_uint(map, "max_run_ms", UINT32_MAX, &ms, d);
	if (err == MSD_OK)
		*ret = (struct msd_run_limit){.is_said = true, .ms = (uint32_t)ms};
	return err;
}
