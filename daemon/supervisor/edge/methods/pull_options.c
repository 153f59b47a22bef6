#include "daemon/supervisor/edge/methods/pull_options.h"

#include "daemon/supervisor/edge/methods/load_options.h"
#include "proto/unpack.h"

msd_err msd_pull_options_read(const msgpack_object *map, struct msd_pull_options *ret,
			      struct msd_diag *d)
{
	static const char *const known[] = {
		"sha256",     "device",     "workers", "era",       "fill",
		"tvm_inputs", "progress",   "batch",   "within_ms", "format",
		"input",      "max_run_ms", NULL};
	struct msd_span digest = {0};
	msd_err err = msd_map_check(map, "module.pull", known, d);

	if (err == MSD_OK)
		err = msd_map_bool(map, "progress", &ret->tells_progress, d);
	if (err == MSD_OK)
		err = msd_map_str(map, "sha256", &digest, d);
	if (err == MSD_OK && digest.n > 0) {
		ret->has_digest = msd_digest_parse(digest, &ret->digest);
		if (!ret->has_digest) {
			err = msd_diag_set(
				d, MSD_BAD_REQUEST,
				"module.pull: sha256: expected 64 hexadecimal digits");
		}
	}
	return err == MSD_OK ? msd_load_options_read(map, "module.pull", &ret->how, d)
			     : err;
}
