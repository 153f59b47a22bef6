/*
 * Pack a tree: the release selects layout and era, each entry of the list becomes a
 * module (pieces.c joins its payload), the imports become edges. Modules of an
 * unpacked library keep their numbers; modules from a user's list are numbered as the
 * release does.
 */
#include <stdlib.h>
#include <string.h>

#include "artifact/tree/imports.h"
#include "pack/manifest.h"
#include "pack/manifest_private.h"

static msd_err wrong(struct msd_diag *d, const char *what)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "manifest: %s", what);
}

static const struct msd_manifest_release *find_release(const json_t *root)
{
	const char *name = json_string_value(json_object_get(root, "tvm"));

	for (size_t i = 0; name != NULL && i < MSD_MANIFEST_RELEASES; i++) {
		if (strcmp(msd_manifest_releases[i].name, name) == 0)
			return &msd_manifest_releases[i];
	}
	return NULL;
}

/* An index below @limit. */
static bool take_index(const json_t *v, json_int_t limit, uint32_t *ret)
{
	json_int_t i = json_integer_value(v);

	if (!json_is_integer(v) || i < 0 || i >= limit)
		return false;
	*ret = (uint32_t)i;
	return true;
}

static msd_err read_imports(struct msd_manifest *m, const json_t *list, uint32_t i,
			    size_t *n_edges, struct msd_diag *d)
{
	struct msd_tree_module *module = &m->given.modules[i];
	size_t n = json_array_size(list);

	module->imports = m->given.edges + *n_edges;
	for (size_t k = 0; k < n; k++) {
		if (!take_index(json_array_get(list, k), m->given.n_modules,
				&m->given.edges[(*n_edges)++])) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "manifest: module %u: its imports are not "
					    "all numbers of modules",
					    i);
		}
	}
	module->n_imports = (uint32_t)n;
	return MSD_OK;
}

static msd_err read_module(struct msd_manifest *m, const json_t *entry, uint32_t i,
			   const struct msd_piece_source *source, struct msd_diag *d)
{
	const json_t *kind = json_object_get(entry, "kind");
	struct msd_tree_module *module = &m->given.modules[i];

	if (!json_is_string(kind)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "manifest: module %u has no \"kind\"", i);
	}
	module->kind = (struct msd_span){(const uint8_t *)json_string_value(kind),
					 json_string_length(kind)};
	if (msd_span_is(module->kind, "_lib"))
		return MSD_OK;
	msd_err err = msd_payload_join(module->kind, entry, m->era, source,
				       &m->payloads[i], d);
	if (err != MSD_OK) {
		return msd_diag_wrap(d, err, "module %u (%s)", i,
				     json_string_value(kind));
	}
	module->payload = (struct msd_span){m->payloads[i].p, m->payloads[i].n};
	return MSD_OK;
}

static msd_err check_tree(const struct msd_tree *tree, size_t n_edges,
			  struct msd_diag *d)
{
	msd_err err = msd_imports_check(tree, n_edges, d);

	return err == MSD_BAD_ARTIFACT ? wrong(d, "modules import each other") : err;
}

static msd_err read_modules(struct msd_manifest *m,
			    const struct msd_piece_source *source, struct msd_diag *d)
{
	const json_t *list = json_object_get(m->json, "modules");
	size_t n = json_array_size(list);
	size_t n_edges = 0;
	msd_err err = MSD_OK;

	if (n == 0 || n > MSD_MAX_MODULES)
		return wrong(d, "expected \"modules\", a list of 1 to 4096");
	for (size_t i = 0; i < n; i++) {
		n_edges += json_array_size(
			json_object_get(json_array_get(list, i), "imports"));
	}
	m->given.modules = calloc(n, sizeof(*m->given.modules));
	m->given.edges = calloc(n_edges + 1, sizeof(*m->given.edges));
	m->payloads = calloc(n, sizeof(*m->payloads));
	if (m->given.modules == NULL || m->given.edges == NULL || m->payloads == NULL)
		return msd_diag_no_memory(d);
	m->given.n_modules = (uint32_t)n;
	n_edges = 0;
	for (uint32_t i = 0; i < n && err == MSD_OK; i++) {
		const json_t *entry = json_array_get(list, i);

		err = read_module(m, entry, i, source, d);
		if (err == MSD_OK) {
			err = read_imports(m, json_object_get(entry, "imports"), i,
					   &n_edges, d);
		}
	}
	return err == MSD_OK ? check_tree(&m->given, n_edges, d) : err;
}

static msd_err read_entries(struct msd_tree *tree, const json_t *list,
			    struct msd_diag *d)
{
	size_t n = json_array_size(list);

	if (list == NULL)
		return MSD_OK;
	if (n > MSD_MAX_MODULES + 1u)
		return wrong(d, "\"entries\" are too many");
	tree->entries = calloc(n > 0 ? n : 1u, sizeof(*tree->entries));
	if (tree->entries == NULL)
		return msd_diag_no_memory(d);
	tree->n_entries = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		const json_t *e = json_array_get(list, i);

		tree->entries[i] = MSD_TREE_ENTRY;
		if (json_integer_value(e) != -1 &&
		    !take_index(e, tree->n_modules, &tree->entries[i]))
			return wrong(d, "\"entries\" are not all numbers of modules");
	}
	return MSD_OK;
}

static bool flag(const json_t *root, const char *key, bool otherwise)
{
	const json_t *v = json_object_get(root, key);

	return v == NULL ? otherwise : json_is_true(v);
}

/* Keep the modules' numbers from an unpacked library. */
static msd_err keep_numbers(struct msd_manifest *m, enum msd_tree_style style,
			    struct msd_diag *d)
{
	m->tree = m->given;
	m->given = (struct msd_tree){0};
	m->tree.layout = style == MSD_TREE_022 ? MSD_BLOB_FRAMED : MSD_BLOB_INLINE;
	m->tree.has_import_tree = flag(m->json, "import_tree", style != MSD_TREE_06);
	return read_entries(&m->tree, json_object_get(m->json, "entries"), d);
}

/* Number the modules as the release does. */
static msd_err order(struct msd_manifest *m, enum msd_tree_style style,
		     struct msd_diag *d)
{
	msd_err err = msd_tree_order(&m->given, style, &m->tree, d);

	if (err != MSD_BAD_ARTIFACT)
		return err;
	return wrong(d, "libraries import each other through other modules; this "
			"release has one library, and they become it");
}

static msd_err read_objects(struct msd_manifest *m, struct msd_diag *d)
{
	const json_t *list = json_object_get(m->json, "objects");
	size_t n = json_array_size(list);

	m->objects = calloc(n + 1, sizeof(*m->objects));
	if (m->objects == NULL)
		return msd_diag_no_memory(d);
	for (; m->n_objects < n; m->n_objects++) {
		const char *name =
			json_string_value(json_array_get(list, m->n_objects));

		if (name == NULL)
			return wrong(d, "\"objects\" are names of files");
		m->objects[m->n_objects] = name;
	}
	m->library = json_string_value(json_object_get(m->json, "library"));
	m->prefix = json_string_value(json_object_get(m->json, "symbol_prefix"));
	if (m->prefix == NULL)
		m->prefix = "";
	m->is_system_library = flag(m->json, "system_library", false);
	return MSD_OK;
}

static msd_err read_manifest(struct msd_manifest *m,
			     const struct msd_piece_source *source, struct msd_diag *d)
{
	const struct msd_manifest_release *release = find_release(m->json);

	if (release == NULL) {
		return wrong(d,
			     "expected \"tvm\": \"0.6\", \"0.7\", \"0.8\" (to 0.20), "
			     "\"0.21\" or \"0.22\" (and later)");
	}
	m->era = release->era;
	msd_err err = read_modules(m, source, d);
	if (err == MSD_OK)
		err = read_objects(m, d);
	if (err == MSD_OK) {
		err = flag(m->json, "numbered", false)
			      ? keep_numbers(m, release->style, d)
			      : order(m, release->style, d);
	}
	if (err != MSD_OK)
		return err;
	bool is_alone =
		m->tree.n_modules == 1 && msd_span_is(m->tree.modules[0].kind, "_lib");
	if (!flag(m->json, "blob", !is_alone))
		m->tree.layout = MSD_BLOB_NONE;
	return MSD_OK;
}

msd_err msd_manifest_read(struct msd_span text, const struct msd_piece_source *source,
			  struct msd_manifest *ret, struct msd_diag *d)
{
	json_error_t why;
	struct msd_manifest m = {
		.json = json_loadb((const char *)text.p, text.n,
				   JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why)};

	if (m.json == NULL) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "manifest: invalid JSON at line %d: %s", why.line,
				    why.text);
	}
	msd_err err = read_manifest(&m, source, d);
	if (err != MSD_OK) {
		msd_manifest_finish(&m);
		return err;
	}
	*ret = m;
	return MSD_OK;
}

void msd_manifest_finish(struct msd_manifest *m)
{
	if (m == NULL)
		return;
	uint32_t n = m->given.n_modules > 0 ? m->given.n_modules : m->tree.n_modules;
	for (uint32_t i = 0; m->payloads != NULL && i < n; i++)
		msd_buf_finish(&m->payloads[i]);
	free(m->payloads);
	msd_tree_finish(&m->tree);
	msd_tree_finish(&m->given);
	free(m->objects);
	json_decref(m->json);
	*m = (struct msd_manifest){0};
}
