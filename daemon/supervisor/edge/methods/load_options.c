#include "daemon/supervisor/edge/methods/load_options.h"

#include "daemon/supervisor/edge/methods/method.h"
#include "proto/unpack.h"

#define OPTIONS 2u /* the parameter */

static struct msd_span raw_options(const struct msd_method_call *c)
{
	struct msd_span options = {0};
	struct msd_cur all;
	uint32_t n;

	if (!msd_array_open(c->in->body.params, &all, &n) || n <= OPTIONS)
		return options;
	for (unsigned i = 0; i <= OPTIONS && msd_object_parse(&all, &options); i++)
		continue;
	return options;
}

struct msd_span msd_load_options_raw(const struct msd_method_call *c, const char *key)
{
	return msd_map_value(raw_options(c), key);
}

msd_err msd_load_options_read(const struct msd_method_call *c, const char *const *own,
			      struct msd_run_options *ret, struct msd_diag *d)
{
	const char *known[MSD_OWN_OPTIONS + MSD_RUN_KEYS + 1];
	size_t n = 0;

	while (own[n] != NULL && n < MSD_OWN_OPTIONS) {
		known[n] = own[n];
		n++;
	}
	for (unsigned i = 0; i < MSD_RUN_KEYS; i++) {
		if ((msd_run_keys[i].fronts & MSD_RUN_LOAD) != 0)
			known[n++] = msd_run_keys[i].wire;
	}
	known[n] = NULL;
	msd_err err = msd_map_check(&c->params->via.array.ptr[OPTIONS],
				    msd_method_row(c->method)->name, known, d);
	if (err == MSD_OK)
		err = msd_run_options_read(raw_options(c), MSD_RUN_LOAD, ret, d);
	return err == MSD_OK ? msd_run_options_check(ret, d) : err;
}

msd_err msd_pull_options_read(const struct msd_method_call *c,
			      struct msd_pull_options *ret, struct msd_diag *d)
{
	static const char *const own[] = {"sha256", "progress", NULL};
	const msgpack_object *map = &c->params->via.array.ptr[OPTIONS];
	struct msd_span digest = {0};
	msd_err err = msd_load_options_read(c, own, &ret->how.run, d);

	if (err == MSD_OK)
		err = msd_map_bool(map, "progress", &ret->tells_progress, d);
	if (err == MSD_OK)
		err = msd_map_str(map, "sha256", &digest, d);
	if (err != MSD_OK || digest.n == 0)
		return err;
	ret->has_digest = msd_digest_parse(digest, &ret->digest);
	return ret->has_digest
		       ? MSD_OK
		       : msd_diag_set(
				 d, MSD_BAD_REQUEST,
				 "module.pull: sha256: expected 64 hexadecimal digits");
}
