/* An inspected artifact in words and as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json.h"
#include "runtime/artifact/inspect.h"

#define MAX_INDENT 16 /* levels; deeper modules stay there */
#define LINE_BYTES 88u

static const char *what_is(const struct msd_inspect_module *m)
{
	struct msd_span kind = {(const uint8_t *)m->kind, strlen(m->kind)};
	const struct msd_payload_kind *row = msd_payload_kind_find(kind);

	if (msd_span_is(kind, "_lib"))
		return "this library";
	return row != NULL ? row->what : "unknown kind";
}

/* "label      a, b, c", broken between names before the line gets too long. */
static void put_names(struct msd_buf *out, const char *label, char *const *names,
		      size_t n, bool mark_tvm)
{
	size_t line_start = out->n;

	if (n == 0)
		return;
	msd_buf_printf(out, "%-11s", label);
	for (size_t i = 0; i < n; i++) {
		const char *mark =
			mark_tvm && msd_inspect_is_tvm_symbol(names[i]) ? " (TVM)" : "";

		if (i > 0 && out->n - line_start + strlen(names[i]) + 8 > LINE_BYTES) {
			msd_buf_printf(out, ",\n%-11s", "");
			line_start = out->n - 11;
		} else if (i > 0) {
			msd_buf_printf(out, ", ");
		}
		msd_buf_printf(out, "%s%s", names[i], mark);
	}
	msd_buf_printf(out, "\n");
}

static void put_facts(struct msd_buf *out, const struct msd_payload_info *info,
		      int indent)
{
	for (size_t i = 0; i < info->n_facts; i++)
		msd_buf_printf(out, "%*s%s: %s\n", indent, "", info->facts[i].key,
			       info->facts[i].value);
}

/* Depth is bounded by the number of modules, for each is shown once. */
static void put_module(struct msd_buf *out, const struct msd_inspect *in,
		       uint32_t index, int level, bool *is_shown)
{
	const struct msd_inspect_module *m = &in->modules[index];
	int indent = 2 * (level < MAX_INDENT ? level : MAX_INDENT);

	msd_buf_printf(out, "%*s[%" PRIu32 "] %s", indent, "", index, m->kind);
	if (is_shown[index]) { /* imported by several */
		msd_buf_printf(out, ", see above\n");
		return;
	}
	is_shown[index] = true;
	msd_buf_printf(out, ", %s", what_is(m));
	if (strcmp(m->kind, "_lib") != 0)
		msd_buf_printf(out, ", %" PRIu64 " bytes (%.1f %%)", m->bytes,
			       100.0 * (double)m->bytes / (double)in->file_bytes);
	msd_buf_printf(out, "\n");
	put_facts(out, &m->info, indent + 4);
	for (uint32_t i = 0; i < m->n_imports; i++)
		put_module(out, in, m->imports[i], level + 1, is_shown);
}

void msd_inspect_text(const struct msd_inspect *i, struct msd_buf *out)
{
	bool *is_shown = calloc(i->n_modules, sizeof(*is_shown));

	if (is_shown == NULL) {
		out->bad = true;
		return;
	}
	msd_buf_printf(out, "%-11s%" PRIu64 " bytes\n", "file", i->file_bytes);
	msd_buf_printf(out, "%-11s%s\n", "era", msd_era_title(i->era));
	msd_buf_printf(out, "%-11s%s\n", "machine", i->machine);
	put_names(out, "needed", i->needed, i->n_needed, false);
	put_names(out, "undefined", i->undefined, i->n_undefined, true);
	put_names(out, "functions", i->functions, i->n_functions, false);
	msd_buf_printf(out, "modules\n");
	put_module(out, i, 0, 1, is_shown);
	for (uint32_t k = 1; k < i->n_modules; k++) {
		if (is_shown[k])
			continue;
		msd_buf_printf(out, "  not imported by the root:\n");
		put_module(out, i, k, 1, is_shown);
	}
	free(is_shown);
}

static void json_names(struct msd_buf *out, const char *key, char *const *names,
		       size_t n)
{
	msd_buf_printf(out, ",\"%s\":[", key);
	for (size_t i = 0; i < n; i++) {
		msd_buf_put(out, ",", i > 0 ? 1 : 0);
		msd_json_cstr(out, names[i]);
	}
	msd_buf_printf(out, "]");
}

static void json_module(struct msd_buf *out, const struct msd_inspect_module *m)
{
	msd_buf_printf(out, "{\"kind\":");
	msd_json_cstr(out, m->kind);
	msd_buf_printf(out, ",\"what\":");
	msd_json_cstr(out, what_is(m));
	msd_buf_printf(out, ",\"bytes\":%" PRIu64 ",\"imports\":[", m->bytes);
	for (uint32_t i = 0; i < m->n_imports; i++)
		msd_buf_printf(out, "%s%" PRIu32, i > 0 ? "," : "", m->imports[i]);
	/* A list of pairs: keys repeat, one "kernel" for each. */
	msd_buf_printf(out, "],\"facts\":[");
	for (size_t i = 0; i < m->info.n_facts; i++) {
		msd_buf_printf(out, "%s[", i > 0 ? "," : "");
		msd_json_cstr(out, m->info.facts[i].key);
		msd_buf_printf(out, ",");
		msd_json_cstr(out, m->info.facts[i].value);
		msd_buf_printf(out, "]");
	}
	msd_buf_printf(out, "]}");
}

static const char *layout_name(enum msd_blob_layout layout)
{
	switch (layout) {
	case MSD_BLOB_INLINE:
		return "inline";
	case MSD_BLOB_FRAMED:
		return "framed";
	case MSD_BLOB_NONE:
		break;
	}
	return "none";
}

void msd_inspect_json(const struct msd_inspect *i, struct msd_buf *out)
{
	msd_buf_printf(out, "{\"file_bytes\":%" PRIu64 ",\"era\":", i->file_bytes);
	msd_json_cstr(out, msd_era_title(i->era));
	msd_buf_printf(out, ",\"machine\":");
	msd_json_cstr(out, i->machine);
	json_names(out, "needed", i->needed, i->n_needed);
	json_names(out, "undefined", i->undefined, i->n_undefined);
	json_names(out, "functions", i->functions, i->n_functions);
	msd_buf_printf(out, ",\"layout\":\"%s\",\"modules\":[", layout_name(i->layout));
	for (uint32_t k = 0; k < i->n_modules; k++) {
		msd_buf_put(out, ",", k > 0 ? 1 : 0);
		json_module(out, &i->modules[k]);
	}
	msd_buf_printf(out, "]}\n");
}
