#include "daemon/supervisor/edge/methods/load_options.h"

#include "proto/unpack.h"

#define NOT_SAID UINT64_MAX

static msd_err read_device(struct msd_span text, struct msd_device_list *ret,
			   struct msd_diag *d)
{
	if (msd_device_list_parse(text, ret))
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "device \"%.*s\": " MSD_DEVICE_LIST_EXPECTED,
			    (int)(text.n < 64 ? text.n : 64), (const char *)text.p);
}

static msd_err read_era(const msgpack_object *map, enum msd_abi_word *ret,
			struct msd_diag *d)
{
	struct msd_span word = {0};
	msd_err err = msd_map_str(map, "era", &word, d);

	if (err != MSD_OK || word.n == 0 || msd_abi_word_parse(word, ret))
		return err;
	return msd_diag_set(d, MSD_BAD_REQUEST, "era \"%.*s\": expected " MSD_ERA_WORDS,
			    (int)(word.n < 64 ? word.n : 64), (const char *)word.p);
}

static msd_err read_fill(const msgpack_object *map, enum msd_fill_word *ret,
			 struct msd_diag *d)
{
	struct msd_span word = {0};
	msd_err err = msd_map_str(map, "fill", &word, d);

	if (err != MSD_OK || word.n == 0 || msd_fill_word_parse(word, ret))
		return err;
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "fill \"%.*s\": expected " MSD_FILL_WORDS,
			    (int)(word.n < 64 ? word.n : 64), (const char *)word.p);
}

static msd_err read_words(const msgpack_object *map, struct msd_model_words *ret,
			  struct msd_diag *d)
{
	struct msd_span format = {0}, input = {0};
	msd_err err = msd_map_str(map, "format", &format, d);

	if (err == MSD_OK)
		err = msd_map_str(map, "input", &input, d);
	if (err == MSD_OK && format.n > 0)
		err = msd_model_words_format(ret, format, d);
	if (err == MSD_OK && input.n > 0)
		err = msd_model_words_input(ret, input, d);
	return err;
}

msd_err msd_load_options_read(const msgpack_object *map, const char *method,
			      struct msd_load *ret, struct msd_diag *d)
{
	struct msd_span device = {0};
	uint64_t workers = NOT_SAID;
	msd_err err = msd_map_bool(map, "tvm_inputs", &ret->tvm_inputs, d);

	if (err == MSD_OK)
		err = msd_map_str(map, "device", &device, d);
	if (err == MSD_OK && device.n > 0)
		err = read_device(device, &ret->device_list, d);
	if (err == MSD_OK)
		err = msd_map_uint(map, "workers", UINT32_MAX, &workers, d);
	if (err == MSD_OK && workers == 0) {
		err = msd_diag_set(d, MSD_BAD_REQUEST,
				   "%s: workers: expected at least 1", method);
	}
	ret->workers = workers != NOT_SAID ? (uint32_t)workers : 0;
	if (err == MSD_OK)
		err = read_era(map, &ret->era, d);
	if (err == MSD_OK)
		err = read_fill(map, &ret->fill, d);
	if (err == MSD_OK)
		err = read_words(map, &ret->words, d);
	if (err == MSD_OK)
		err = msd_batching_read(map, &ret->batching, d);
	if (err == MSD_OK)
		err = msd_run_limit_read(map, &ret->max_run, d);
	return err;
}

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
