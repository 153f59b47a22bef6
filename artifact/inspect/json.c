/* An inspected artifact as JSON. */
#include "artifact/json.h"

#include "artifact/inspect/inspect.h"

/* [[name, its counterpart or null], ...] */
static json_t *pairs_json(char *const *names, char *const *others, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		msd_json_add(&list, json_pack("[o,o]", msd_json_string(names[i]),
					      msd_json_string(others[i])));
	}
	return list;
}

static json_t *needs_json(const struct msd_inspect *in, const struct msd_model *m)
{
	char who[MSD_PROVIDER_MAX];
	json_t *list = json_array();

	for (size_t i = 0; i < m->n_needs; i++) {
		msd_json_add(&list, json_pack("[o,o]", msd_json_string(m->needs[i]),
					      msd_json_string(msd_inspect_provider(
						      in, m->needs[i], who))));
	}
	return list;
}

static void set_hash(json_t **map, const char *hash)
{
	if (hash[0] != '\0')
		msd_json_set(map, "sha256", msd_json_string(hash));
}

/* A list of pairs: keys repeat, one "kernel" for each. */
static json_t *facts_json(const struct msd_payload_info *info)
{
	json_t *list = json_array();

	for (size_t i = 0; i < info->n_facts; i++) {
		msd_json_add(&list,
			     json_pack("[o,o]", msd_json_string(info->facts[i].key),
				       msd_json_string(info->facts[i].value)));
	}
	return list;
}

static json_t *module_json(const struct msd_inspect *in,
			   const struct msd_inspect_module *m)
{
	json_t *imports = json_array();

	for (uint32_t i = 0; i < m->n_imports; i++)
		msd_json_add(&imports, json_integer(m->imports[i]));
	json_t *map = json_pack(
		"{s:o,s:o,s:I,s:o,s:o}", "kind", msd_json_string(m->kind), "what",
		msd_json_string(msd_inspect_what(m)), "bytes", (json_int_t)m->bytes,
		"imports", imports, "facts", facts_json(&m->info));
	set_hash(&map, m->sha256);
	if (m->gpu.n_images > 0)
		msd_json_set(&map, "code", msd_gpu_code_json(&m->gpu));
	if (m->model.n_funcs > 0 || m->model.has_params) {
		msd_json_set(&map, "model", msd_model_json(&m->model));
		msd_json_set(&map, "needs", needs_json(in, &m->model));
	}
	return map;
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
	json_t *map = json_pack("{s:I}", "file_bytes", (json_int_t)i->file_bytes);
	json_t *modules = json_array();

	for (uint32_t k = 0; k < i->n_modules; k++)
		msd_json_add(&modules, module_json(i, &i->modules[k]));
	set_hash(&map, i->sha256);
	msd_json_set(&map, "era", msd_json_string(msd_era_title(i->era)));
	msd_json_set(&map, "machine", msd_json_string(i->machine));
	msd_json_set(&map, "needed", msd_json_texts(i->needed, i->n_needed));
	msd_json_set(&map, "undefined", msd_json_texts(i->undefined, i->n_undefined));
	msd_json_set(&map, "providers",
		     pairs_json(i->undefined, i->providers, i->n_undefined));
	msd_json_set(&map, "unknown_slots",
		     msd_json_texts(i->unknown_slots, i->n_unknown_slots));
	msd_json_set(&map, "functions", msd_json_texts(i->functions, i->n_functions));
	msd_json_set(&map, "signatures",
		     pairs_json(i->functions, i->signatures, i->n_functions));
	if (i->is_plugin)
		msd_json_set(&map, "brings", msd_json_texts(i->brings, i->n_brings));
	msd_json_set(&map, "layout", msd_json_string(layout_name(i->layout)));
	msd_json_set(&map, "modules", modules);
	msd_json_put(out, map, JSON_COMPACT);
	msd_buf_put_u8(out, '\n');
}
