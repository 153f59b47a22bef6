#include "daemon/supervisor/module/queue/batching.h"

#include "proto/base/argv.h"
#include "proto/base/duration.h"
#include "proto/unpack.h"

msd_err msd_batching_check(const struct msd_batching *b, struct msd_diag *d)
{
	if (b->rows == 1 || b->rows > MSD_MAX_BATCH_ROWS) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "batch %u: expected 2 to %u rows", b->rows,
				    MSD_MAX_BATCH_ROWS);
	}
	if (b->within_ms > MSD_MAX_BATCH_WITHIN_MS) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "batch-delay %u ms: expected %u ms at most",
				    b->within_ms, MSD_MAX_BATCH_WITHIN_MS);
	}
	if (b->within_ms > 0 && b->rows == 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "batch-delay is the time that a call waits for "
				    "others of its batch: "
				    "give batch, too");
	}
	return MSD_OK;
}

msd_err msd_batching_parse_rows(const char *text, struct msd_batching *b,
				struct msd_diag *d)
{
	if (msd_argv_count(text, &b->rows))
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "batch %s: expected a number of rows, 2 to %u", text,
			    MSD_MAX_BATCH_ROWS);
}

msd_err msd_batching_parse_within(const char *text, struct msd_batching *b,
				  struct msd_diag *d)
{
	uint64_t ms = 0;
	const msd_err err = msd_duration_parse(text, &ms, d);

	b->within_ms = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
	return err;
}

msd_err msd_batching_read(const msgpack_object *map, struct msd_batching *ret,
			  struct msd_diag *d)
{
	uint64_t rows = 0, within_ms = 0;
	msd_err err = msd_map_uint(map, "batch", MSD_MAX_BATCH_ROWS, &rows, d);

	if (err == MSD_OK) {
		err = msd_map_uint(map, "within_ms", MSD_MAX_BATCH_WITHIN_MS,
				   &within_ms, d);
	}
	if (err != MSD_OK)
		return err;
	*ret = (struct msd_batching){(uint32_t)rows, (uint32_t)within_ms};
	return msd_batching_check(ret, d);
}
