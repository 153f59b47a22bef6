/* serializers: lists the known model formats and their features. */
#include <stdlib.h>

#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"
#include "graph/serializer/operators.h"
#include "proto/base/json.h"

/* One row of the list. */
struct row {
	const char *key;
	const modser_serializer *s;
	struct msd_operators loaded, stored;
};

static void put_list(struct msd_buf *out, const struct msd_operators *o)
{
	msd_buf_printf(out, "[");
	for (size_t i = 0; i < o->n; i++) {
		msd_buf_printf(out, i > 0 ? ", " : "");
		msd_json_cstr(out, o->names[i]);
	}
	msd_buf_printf(out, "]");
}

static void put_json(struct msd_buf *out, const struct row *row)
{
	msd_buf_printf(out, "{\"key\": ");
	msd_json_cstr(out, row->key);
	msd_buf_printf(out, ", \"format\": ");
	msd_json_cstr(out, modser_serializer_format(row->s));
	msd_buf_printf(out, ", \"name\": ");
	msd_json_cstr(out, modser_serializer_name(row->s));
	msd_buf_printf(out, ", \"version\": ");
	msd_json_cstr(out, modser_serializer_version(row->s));
	msd_buf_printf(out, ", \"files\": %u, \"loads\": true, \"stores\": %s",
		       modser_serializer_file_count(row->s),
		       modser_serializer_can_store(row->s) ? "true" : "false");
	msd_buf_printf(out, ", \"load_operators\": ");
	put_list(out, &row->loaded);
	msd_buf_printf(out, ", \"store_operators\": ");
	put_list(out, &row->stored);
	msd_buf_printf(out, "}");
}

/* A plugin's format may have operators that it does not report. */
static void put_count(struct msd_buf *out, const struct msd_operators *o)
{
	if (o->n > 0)
		msd_buf_printf(out, " %zu operator%s", o->n, o->n == 1 ? "" : "s");
}

static void put_line(struct msd_buf *out, const struct row *row)
{
	const unsigned n_files = modser_serializer_file_count(row->s);

	msd_buf_printf(out, "%s\t%s\t%s\t%s\t%u file%s\tloads", row->key,
		       modser_serializer_format(row->s), modser_serializer_name(row->s),
		       modser_serializer_version(row->s), n_files,
		       n_files == 1 ? "" : "s");
	put_count(out, &row->loaded);
	if (modser_serializer_can_store(row->s)) {
		msd_buf_printf(out, ", stores");
		put_count(out, &row->stored);
	}
	msd_buf_printf(out, "\n");
}

static void put_row(bool as_json, const char *key, const modser_serializer *s,
		    struct msd_buf *out)
{
	struct row row = {.key = key, .s = s};

	if (!msd_operators_loaded(s, &row.loaded) ||
	    !msd_operators_stored(s, &row.stored)) {
		out->bad = true;
	} else if (as_json) {
		put_json(out, &row);
	} else {
		put_line(out, &row);
	}
	msd_operators_finish(&row.loaded);
	msd_operators_finish(&row.stored);
}

static void put_all(bool as_json, struct msd_buf *out)
{
	modser_serializer *s;
	char *key;

	msd_buf_printf(out, as_json ? "[" : "");
	for (size_t i = 0; (s = modser_serializer_at(i, &key)) != NULL; i++) {
		if (as_json && i > 0)
			msd_buf_printf(out, ", ");
		put_row(as_json, key, s, out);
		free(key);
		modser_serializer_unref(s);
	}
	msd_buf_printf(out, as_json ? "]\n" : "");
}

enum msd_exit msd_verb_formats(const struct msd_cli *cli)
{
	struct msd_buf out = {0};

	put_all(cli->json, &out);
	if (out.bad) {
		msd_buf_finish(&out);
		return msd_report_no_memory();
	}
	msd_print_flush(&out);
	return MSD_EXIT_OK;
}
