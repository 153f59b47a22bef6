/* An inspected artifact as text: the file, its requirements and missing symbols, its
 * functions, then its modules as a tree with their facts. Absent items have no line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/inspect/inspect.h"

#define MAX_INDENT 16 /* levels; deeper modules get no more indent */
#define LINE_BYTES 88u

const char *msd_inspect_what(const struct msd_inspect_module *m)
{
	struct msd_span kind = msd_span_of(m->kind);
	const struct msd_payload_kind *row = msd_payload_kind_find(kind);

	return row != NULL ? row->title : "unknown kind";
}

/* "label      a, b (who), c", wrapped between names. */
static void put_names(struct msd_buf *out, const char *label, char *const *names,
		      size_t n, char *const *who, const char *fallback)
{
	size_t line_start = out->n;

	if (n == 0)
		return;
	msd_buf_printf(out, "%-11s", label);
	for (size_t i = 0; i < n; i++) {
		const char *by = who != NULL && who[i] != NULL ? who[i] : fallback;
		const size_t width =
			strlen(names[i]) + (by != NULL ? strlen(by) + 3 : 0);

		if (i > 0 && out->n - line_start + width + 2 > LINE_BYTES) {
			msd_buf_printf(out, ",\n%-11s", "");
			line_start = out->n - 11;
		} else if (i > 0) {
			msd_buf_printf(out, ", ");
		}
		msd_buf_printf(out, "%s", names[i]);
		if (by != NULL)
			msd_buf_printf(out, " (%s)", by);
	}
	msd_buf_printf(out, "\n");
}

/* Functions with signatures get lines of their own. */
static void put_functions(struct msd_buf *out, const struct msd_inspect *in)
{
	bool has_any = false;

	for (size_t i = 0; i < in->n_functions; i++)
		has_any |= in->signatures[i] != NULL;
	if (!has_any) {
		put_names(out, "functions", in->functions, in->n_functions, NULL, NULL);
		return;
	}
	for (size_t i = 0; i < in->n_functions; i++) {
		msd_buf_printf(out, "%-11s%s\n", i == 0 ? "functions" : "",
			       in->signatures[i] != NULL ? in->signatures[i]
							 : in->functions[i]);
	}
}

/* Functions that a model needs and that neither the library nor this build of modserd
 * has. */
static void put_missing(struct msd_buf *out, const struct msd_inspect *in,
			const struct msd_model *m, int indent)
{
	char who[MSD_PROVIDER_MAX];
	const char *before = "no module has: ";

	for (size_t i = 0; i < m->n_needs; i++) {
		if (msd_inspect_provider(in, m->needs[i], who) != NULL)
			continue;
		msd_buf_printf(out, "%*s%s%s", *before == 'n' ? indent : 0, "", before,
			       m->needs[i]);
		before = ", ";
	}
	if (*before != 'n')
		msd_buf_printf(out, "\n");
}

static void put_hash(struct msd_buf *out, const char *label, const char *hash)
{
	if (hash[0] != '\0')
		msd_buf_printf(out, "%s%s\n", label, hash);
}

static void put_facts(struct msd_buf *out, const struct msd_payload_info *info,
		      int indent)
{
	for (size_t i = 0; i < info->n_facts; i++) {
		msd_buf_printf(out, "%*s%s: %s\n", indent, "", info->facts[i].key,
			       info->facts[i].value);
	}
}

/* Depth is limited by the number of modules, because each is shown once. */
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
	msd_buf_printf(out, ", %s", msd_inspect_what(m));
	if (strcmp(m->kind, "_lib") != 0) {
		msd_buf_printf(out, ", %" PRIu64 " bytes (%.1f %%)", m->bytes,
			       100.0 * (double)m->bytes / (double)in->file_bytes);
	}
	msd_buf_printf(out, "\n");
	if (m->sha256[0] != '\0')
		msd_buf_printf(out, "%*ssha256: %s\n", indent + 4, "", m->sha256);
	put_facts(out, &m->info, indent + 4);
	msd_gpu_code_text(&m->gpu, indent + 4, out);
	msd_model_text(&m->model, indent + 4, out);
	put_missing(out, in, &m->model, indent + 4);
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
	put_hash(out, "sha256     ", i->sha256);
	msd_buf_printf(out, "%-11s%s\n", "era", msd_era_title(i->era));
	msd_buf_printf(out, "%-11s%s\n", "machine", i->machine);
	put_names(out, "needed", i->needed, i->n_needed, NULL, NULL);
	put_names(out, "undefined", i->undefined, i->n_undefined, i->providers,
		  i->is_resolved ? "missing" : NULL);
	put_names(out, "unknown", i->unknown_slots, i->n_unknown_slots, NULL,
		  "missing");
	put_functions(out, i);
	put_names(out, "brings", i->brings, i->n_brings, NULL, NULL);
	if (i->is_plugin && i->n_brings == 0)
		msd_buf_printf(out, "%-11sno list: it is a plugin\n", "brings");
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
