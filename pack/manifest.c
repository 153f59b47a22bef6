/*
 * Unpack a tree: global facts become the manifest's head, each module an entry of its
 * list, with the files that pieces.c creates from its payload. The manifest itself is
 * the last of the files.
 */
#include "pack/manifest.h"

#include <stdio.h>
#include <stdlib.h>

#include "pack/manifest_private.h"

#define STEM_MAX 64 /* bytes of "12-cuda" incl. NUL */

const struct msd_manifest_release msd_manifest_releases[MSD_MANIFEST_RELEASES] = {
	{"0.6", MSD_ERA_CLASSIC, MSD_TREE_06}, {"0.7", MSD_ERA_CLASSIC, MSD_TREE_07},
	{"0.8", MSD_ERA_CLASSIC, MSD_TREE_08}, {"0.21", MSD_ERA_FFI_021, MSD_TREE_08},
	{"0.22", MSD_ERA_FFI, MSD_TREE_022},
};

/* Make a name that is valid for files, for any kind in a blob. */
static void make_stem(uint32_t i, struct msd_span kind, char stem[static STEM_MAX])
{
	int at = snprintf(stem, STEM_MAX, "%u-", i);

	for (size_t k = 0; k < kind.n && k < 40; k++) {
		char c = (char)kind.p[k];
		bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
				(c >= '0' && c <= '9') || c == '_' || c == '.' ||
				c == '-';

		stem[at++] = (char)(is_plain ? c : '_');
	}
	stem[at] = '\0';
}

static json_t *imports_json(const struct msd_tree_module *m)
{
	json_t *imports = json_array();

	for (uint32_t k = 0; k < m->n_imports; k++) {
		if (json_array_append_new(imports, json_integer(m->imports[k])) != 0) {
			json_decref(imports);
			return NULL;
		}
	}
	return imports;
}

static msd_err add_module(const struct msd_tree *tree, uint32_t i, enum msd_era era,
			  json_t *modules, struct msd_pieces *files, struct msd_diag *d)
{
	const struct msd_tree_module *m = &tree->modules[i];
	json_t *kind =
		json_stringn(m->kind.n > 0 ? (const char *)m->kind.p : "", m->kind.n);
	json_t *entry = json_object();
	char stem[STEM_MAX];
	msd_err err = MSD_OK;

	if (kind == NULL) {
		err = msd_diag_set(d, MSD_UNSUPPORTED,
				   "module %u: its kind is not UTF-8", i);
	} else if (json_object_set(entry, "kind", kind) != 0 ||
		   json_object_set_new(entry, "imports", imports_json(m)) != 0) {
		err = msd_diag_no_memory(d);
	}
	make_stem(i, m->kind, stem);
	if (err == MSD_OK) {
		err = msd_payload_split(m->kind, m->payload, era, stem, entry, files,
					d);
	}
	if (err == MSD_OK && json_array_append(modules, entry) != 0)
		err = msd_diag_no_memory(d);
	json_decref(kind);
	json_decref(entry);
	return err;
}

static const char *release_of(const struct msd_tree *tree, enum msd_era era)
{
	uint32_t libraries = 0;

	if (era == MSD_ERA_FFI)
		return "0.22";
	if (era == MSD_ERA_FFI_021)
		return "0.21";
	for (uint32_t i = 0; i < tree->n_modules; i++)
		libraries += msd_span_is(tree->modules[i].kind, "_lib");
	if (libraries > 1)
		return "0.7";
	return tree->has_import_tree || tree->layout == MSD_BLOB_NONE ? "0.8" : "0.6";
}

static json_t *entries_json(const struct msd_tree *tree)
{
	json_t *entries = json_array();

	for (uint32_t i = 0; i < tree->n_entries; i++) {
		json_int_t e = tree->entries[i] == MSD_TREE_ENTRY
				       ? -1
				       : (json_int_t)tree->entries[i];

		if (json_array_append_new(entries, json_integer(e)) != 0) {
			json_decref(entries);
			return NULL;
		}
	}
	return entries;
}

static bool set_prefix(json_t *root, struct msd_span prefix)
{
	return prefix.n == 0 ||
	       json_object_set_new(root, "symbol_prefix",
				   json_stringn((const char *)prefix.p, prefix.n)) == 0;
}

static json_t *head_json(const struct msd_tree *tree, enum msd_era era,
			 const char *library)
{
	json_t *root =
		json_pack("{s:s, s:s*, s:b, s:b, s:b}", "tvm", release_of(tree, era),
			  "library", library, "blob", tree->layout != MSD_BLOB_NONE,
			  "import_tree", tree->has_import_tree, "numbered", 1);

	if (root != NULL &&
	    (!set_prefix(root, tree->symbol_prefix) ||
	     (tree->entries != NULL &&
	      json_object_set_new(root, "entries", entries_json(tree)) != 0))) {
		json_decref(root);
		return NULL;
	}
	return root;
}

msd_err msd_manifest_write(const struct msd_tree *tree, enum msd_era era,
			   const char *library, struct msd_pieces *ret,
			   struct msd_diag *d)
{
	json_t *root = head_json(tree, era, library);
	json_t *modules = json_array();
	struct msd_buf text = {0};
	msd_err err = root != NULL && modules != NULL ? MSD_OK : msd_diag_no_memory(d);

	for (uint32_t i = 0; i < tree->n_modules && err == MSD_OK; i++)
		err = add_module(tree, i, era, modules, ret, d);
	if (json_object_set_new(root, "modules", modules) != 0 && err == MSD_OK)
		err = msd_diag_no_memory(d);
	char *dumped = err == MSD_OK ? json_dumps(root, JSON_INDENT(2)) : NULL;
	json_decref(root);
	if (err != MSD_OK)
		return err;
	if (dumped == NULL)
		return msd_diag_no_memory(d);
	msd_buf_printf(&text, "%s\n", dumped);
	free(dumped);
	return msd_pieces_take(ret, "", MSD_MANIFEST_NAME, &text, d);
}
