/* cache: manages the workers' build cache of device code, without a daemon. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/json.h"
#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"
#include "proto/base/argv.h"
#include "store/build_cache.h"

static const char hint[] = "modser cache ls, or prune [BYTES]";

static void put_json(struct msd_buf *out, json_t *json)
{
	msd_json_put(out, json, 0);
	msd_buf_printf(out, "\n");
}

static json_t *entry_json(const struct msd_build_cache *e)
{
	json_t *map = json_object();

	msd_json_set(&map, "name", msd_json_string(e->name));
	msd_json_set(&map, "bytes", json_integer((json_int_t)e->bytes));
	msd_json_set(&map, "used", json_integer((json_int_t)e->used.tv_sec));
	return map;
}

static void put_entry(struct msd_buf *out, const struct msd_build_cache *e)
{
	struct tm at;
	char text[32] = "";

	if (gmtime_r(&e->used.tv_sec, &at) != NULL)
		(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &at);
	if (msd_print_for_people()) {
		msd_buf_printf(out, "%-40s %12" PRIu64 " bytes, used %s\n", e->name,
			       e->bytes, text);
	} else {
		msd_buf_printf(out, "%s\t%" PRIu64 "\t%s\n", e->name, e->bytes, text);
	}
}

static msd_err list(const struct msd_cli *cli, const char *folder, struct msd_buf *out,
		    struct msd_diag *d)
{
	struct msd_build_cache *entries = NULL;
	json_t *json = NULL;
	size_t n = 0;
	msd_err err = msd_build_cache_list(folder, &entries, &n, d);

	if (err != MSD_OK)
		return err;
	if (cli->json)
		json = json_array();
	for (size_t i = 0; i < n; i++) {
		if (cli->json) {
			msd_json_add(&json, entry_json(&entries[i]));
		} else {
			put_entry(out, &entries[i]);
		}
	}
	if (cli->json)
		put_json(out, json);
	free(entries);
	return MSD_OK;
}

static msd_err prune(const struct msd_cli *cli, const char *folder, uint64_t limit,
		     struct msd_buf *out, struct msd_diag *d)
{
	uint64_t removed;
	uint64_t left;
	msd_err err = msd_build_cache_prune(folder, limit, &removed, &left, d);

	if (err != MSD_OK)
		return err;
	if (cli->json) {
		json_t *map = json_object();

		msd_json_set(&map, "removed_bytes", json_integer((json_int_t)removed));
		msd_json_set(&map, "kept_bytes", json_integer((json_int_t)left));
		put_json(out, map);
	} else {
		msd_buf_printf(out,
			       "removed: %" PRIu64 " bytes; kept: %" PRIu64 " bytes\n",
			       removed, left);
	}
	return MSD_OK;
}

static enum msd_exit print(msd_err err, struct msd_buf *out, struct msd_diag *d)
{
	enum msd_exit code = err == MSD_OK ? MSD_EXIT_OK : msd_report_file(d);

	if (out->bad) {
		code = msd_report_no_memory();
	} else {
		msd_print_flush(out);
	}
	msd_buf_finish(out);
	msd_diag_finish(d);
	return code;
}

enum msd_exit msd_verb_cache(const struct msd_cli *cli)
{
	const char *word = cli->words[0];
	uint64_t limit = msd_build_cache_limit();
	struct msd_buf out = {0};
	struct msd_diag d = {0};
	char folder[PATH_MAX];

	if (!msd_build_cache_folder(folder)) {
		return msd_report_usage("set MODSERD_CACHE to a folder",
					"there is no folder for compiled code");
	}
	if (strcmp(word, "ls") == 0 && cli->n_words == 1)
		return print(list(cli, folder, &out, &d), &out, &d);
	if (strcmp(word, "prune") != 0)
		return msd_report_usage(hint, "cache: unknown word \"%s\"", word);
	if (cli->n_words == 2 && !msd_argv_size(cli->words[1], &limit)) {
		return msd_report_usage(hint, "%s: not a size such as 0 or 512M",
					cli->words[1]);
	}
	return print(prune(cli, folder, limit, &out, &d), &out, &d);
}
