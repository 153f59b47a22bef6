/* An inspected artifact as JSON. */
#include <inttypes.h>

#include "proto/json.h"
#include "artifact/inspect/inspect.h"

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

/* [[name, provider or null], ...] */
static void json_pair(struct msd_buf *out, bool is_first, const char *name,
		      const char *who)
{
	msd_buf_printf(out, "%s[", is_first ? "" : ",");
	msd_json_cstr(out, name);
	msd_buf_printf(out, ",");
	if (who != NULL)
		msd_json_cstr(out, who);
	else
		msd_buf_printf(out, "null");
	msd_buf_printf(out, "]");
}

static void json_needs(struct msd_buf *out, const struct msd_inspect *in,
		       const struct msd_model *m)
{
	char who[MSD_PROVIDER_MAX];

	msd_buf_printf(out, ",\"needs\":[");
	for (size_t i = 0; i < m->n_needs; i++)
		json_pair(out, i == 0, m->needs[i],
			  msd_inspect_provider(in, m->needs[i], who));
	msd_buf_printf(out, "]");
}

static void json_details(struct msd_buf *out, const struct msd_inspect *in,
			 const struct msd_inspect_module *m)
{
	if (m->gpu.n_images > 0) {
		msd_buf_printf(out, ",\"code\":");
		msd_gpu_code_json(&m->gpu, out);
	}
	if (m->model.n_funcs > 0 || m->model.has_params) {
		msd_buf_printf(out, ",\"model\":");
		msd_model_json(&m->model, out);
		json_needs(out, in, &m->model);
	}
}

static void json_hash(struct msd_buf *out, const char *hash)
{
	if (hash[0] != '\0')
		msd_buf_printf(out, ",\"sha256\":\"%s\"", hash);
}

static void json_module(struct msd_buf *out, const struct msd_inspect *in,
			const struct msd_inspect_module *m)
{
	msd_buf_printf(out, "{\"kind\":");
	msd_json_cstr(out, m->kind);
	msd_buf_printf(out, ",\"what\":");
	msd_json_cstr(out, msd_inspect_what(m));
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
	msd_buf_printf(out, "]");
	json_hash(out, m->sha256);
	json_details(out, in, m);
	msd_buf_printf(out, "}");
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
	msd_buf_printf(out, "{\"file_bytes\":%" PRIu64, i->file_bytes);
	json_hash(out, i->sha256);
	msd_buf_printf(out, ",\"era\":");
	msd_json_cstr(out, msd_era_title(i->era));
	msd_buf_printf(out, ",\"machine\":");
	msd_json_cstr(out, i->machine);
	json_names(out, "needed", i->needed, i->n_needed);
	json_names(out, "undefined", i->undefined, i->n_undefined);
	msd_buf_printf(out, ",\"providers\":[");
	for (size_t k = 0; k < i->n_undefined; k++)
		json_pair(out, k == 0, i->undefined[k], i->providers[k]);
	msd_buf_printf(out, "]");
	json_names(out, "unknown_slots", i->unknown_slots, i->n_unknown_slots);
	json_names(out, "functions", i->functions, i->n_functions);
	msd_buf_printf(out, ",\"signatures\":[");
	for (size_t k = 0; k < i->n_functions; k++)
		json_pair(out, k == 0, i->functions[k], i->signatures[k]);
	msd_buf_printf(out, "]");
	msd_buf_printf(out, ",\"layout\":\"%s\",\"modules\":[", layout_name(i->layout));
	for (uint32_t k = 0; k < i->n_modules; k++) {
		msd_buf_put(out, ",", k > 0 ? 1 : 0);
		json_module(out, i, &i->modules[k]);
	}
	msd_buf_printf(out, "]}\n");
}
