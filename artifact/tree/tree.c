/*
 * Parse a blob into a tree. msd_tree_read_library() finds the blob by its symbol,
 * removes its size prefix, and selects the layout by era: framed (the tree first,
 * payloads with their lengths) or inline (no lengths, each kind's reader must find
 * the end; the tree last or absent). Then imports.h sets the imports.
 */
#include "artifact/tree/tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/kind/payload.h"
#include "artifact/printable.h"
#include "artifact/tree/imports.h"

#define KIND_LIBRARY "_lib"

static msd_err bad(struct msd_diag *d, const char *what)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "import tree: %s", what);
}

static msd_err no_memory(struct msd_diag *d)
{
	return msd_diag_set(d, MSD_NOMEM, "out of memory for the import tree");
}

static msd_err truncated(struct msd_diag *d, size_t entry)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "import tree: truncated or damaged at entry %zu", entry);
}

static msd_err alloc_modules(struct msd_tree *tree, size_t n, struct msd_diag *d)
{
	if (n > MSD_MAX_MODULES) {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"import tree: %zu modules; at most %u are supported", n,
			MSD_MAX_MODULES);
	}
	tree->modules = calloc(n > 0 ? n : 1u, sizeof(*tree->modules));
	return tree->modules != NULL ? MSD_OK : no_memory(d);
}

static void add_library(struct msd_tree *tree)
{
	tree->modules[tree->n_modules++].kind = (struct msd_span){
		(const uint8_t *)KIND_LIBRARY, sizeof(KIND_LIBRARY) - 1};
}

/* @kind is unknown, so the end of its payload is unknown; but the tree is at the end
 * of the blob and gives the number of modules. @n is the number of entries. */
static bool cut_at(struct msd_tree *tree, struct msd_span kind, struct msd_cur *c,
		   size_t n, struct msd_import_rows *rows)
{
	static const struct msd_span unread = {(const uint8_t *)MSD_TREE_UNREAD,
					       sizeof(MSD_TREE_UNREAD) - 1};
	struct msd_span before;

	if (!msd_import_rows_find((struct msd_span){c->p, c->left}, rows, &before) ||
	    rows->row_ptr.n / sizeof(uint64_t) != n || tree->n_modules + 2 > n)
		return false;
	tree->modules[tree->n_modules++] =
		(struct msd_tree_module){.kind = kind, .payload = before};
	while (tree->n_modules + 1 < n)
		tree->modules[tree->n_modules++].kind = unread;
	tree->has_import_tree = true;
	tree->is_cut = true;
	(void)msd_cur_read(c, c->left);
	return true;
}

/* Only the reader of its kind can find the end of an inline payload. */
static msd_err take_inline_payload(struct msd_tree *tree, struct msd_span kind,
				   struct msd_cur *c, enum msd_era era,
				   struct msd_diag *d)
{
	const struct msd_payload_kind *row = msd_payload_kind_find(kind);
	const uint8_t *start = c->p;
	char name[MSD_PRINTABLE_MAX];

	if (row == NULL) {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"module %u is of the kind \"%s\", which modserd does "
			"not know; nothing after it can be read",
			tree->n_modules, msd_printable(kind, name));
	}
	msd_err err = msd_payload_read(row, c, era, NULL, d);
	if (err != MSD_OK) {
		return msd_diag_wrap(d, err, "module %u (%s)", tree->n_modules,
				     row->kind);
	}
	tree->modules[tree->n_modules++] = (struct msd_tree_module){
		.kind = kind,
		.payload = {start, (size_t)(c->p - start)},
	};
	return MSD_OK;
}

static msd_err read_inline_entry(struct msd_tree *tree, struct msd_import_rows *rows,
				 struct msd_cur *c, enum msd_era era,
				 struct msd_diag *d)
{
	struct msd_span key = msd_cur_str64(c);

	if (c->bad)
		return bad(d, "truncated");
	tree->entries[tree->n_entries++] = msd_span_is(key, MSD_IMPORT_ROWS_KEY)
						   ? MSD_TREE_ENTRY
						   : tree->n_modules;
	if (msd_span_is(key, KIND_LIBRARY)) {
		add_library(tree);
		return MSD_OK;
	}
	if (!msd_span_is(key, MSD_IMPORT_ROWS_KEY))
		return take_inline_payload(tree, key, c, era, d);
	if (tree->has_import_tree)
		return bad(d, "there are two of them");
	tree->has_import_tree = true;
	*rows = msd_import_rows_read(c);
	return c->bad ? bad(d, "truncated") : MSD_OK;
}

/* Without a tree the library is the root, at any position and however often it is
 * listed. */
static void put_library_first(struct msd_tree *tree)
{
	struct msd_tree_module *m = tree->modules;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < tree->n_modules; i++) {
		bool is_library = msd_span_is(m[i].kind, KIND_LIBRARY);

		tree->entries[i] = is_library ? 0 : kept + 1;
		if (!is_library)
			m[kept++] = m[i];
	}
	for (uint32_t i = kept; i > 0; i--)
		m[i] = m[i - 1];
	m[0] = (struct msd_tree_module){0};
	tree->n_modules = 0;
	add_library(tree);
	tree->n_modules = kept + 1;
}

/* Entries in TVM's usual order need not be stored. */
static void forget_usual_entries(struct msd_tree *tree)
{
	uint32_t first = tree->has_import_tree ? 0 : 1;

	for (uint32_t i = 0; i < tree->n_entries; i++) {
		uint32_t usual =
			i + first < tree->n_modules ? i + first : MSD_TREE_ENTRY;

		if (tree->entries[i] != usual)
			return;
	}
	if (tree->n_entries + first !=
	    tree->n_modules + (tree->has_import_tree ? 1u : 0u))
		return;
	free(tree->entries);
	tree->entries = NULL;
	tree->n_entries = 0;
}

/* The module at @c has an unknown kind; the rest was read from the blob's end. */
static bool take_cut(struct msd_tree *tree, struct msd_cur *c, size_t n,
		     struct msd_import_rows *rows)
{
	struct msd_cur behind = *c;
	const struct msd_span kind = msd_cur_str64(&behind);

	if (behind.bad || tree->has_import_tree || msd_span_is(kind, KIND_LIBRARY) ||
	    msd_span_is(kind, MSD_IMPORT_ROWS_KEY) ||
	    msd_payload_kind_find(kind) != NULL ||
	    !cut_at(tree, kind, &behind, n, rows))
		return false;
	*c = behind;
	return true;
}

static msd_err read_inline(struct msd_cur *c, enum msd_era era, bool may_cut,
			   struct msd_tree *tree, struct msd_diag *d)
{
	struct msd_import_rows rows = {0};
	size_t n = msd_cur_count64(c, sizeof(uint64_t));

	if (c->bad)
		return bad(d, "its number of entries does not fit into the blob");
	/* One more than listed: the library may have to be added as the root. */
	msd_err err = alloc_modules(tree, n + 1, d);
	if (err != MSD_OK)
		return err;
	tree->entries = calloc(n > 0 ? n : 1u, sizeof(*tree->entries));
	if (tree->entries == NULL)
		return no_memory(d);
	for (size_t i = 0; i < n && err == MSD_OK && !tree->is_cut; i++) {
		if (!may_cut || !take_cut(tree, c, n, &rows))
			err = read_inline_entry(tree, &rows, c, era, d);
	}
	if (err != MSD_OK)
		return err;
	if (!msd_cur_end(c))
		return bad(d, "bytes are left after its last entry");
	tree->layout = MSD_BLOB_INLINE;
	if (!tree->has_import_tree)
		put_library_first(tree);
	if (tree->is_cut) { /* they are not written again */
		free(tree->entries);
		tree->entries = NULL;
		tree->n_entries = 0;
	} else {
		forget_usual_entries(tree);
	}
	if (!tree->has_import_tree)
		return msd_imports_imply(tree, d);
	if (tree->n_modules == 0)
		return bad(d, "it has no modules");
	return msd_imports_set(tree, &rows, d);
}

static msd_err read_framed(struct msd_cur *c, struct msd_tree *tree, struct msd_diag *d)
{
	const struct msd_import_rows rows = msd_import_rows_read(c);

	if (c->bad)
		return bad(d, "truncated");
	if (rows.row_ptr.n < 2 * sizeof(uint64_t))
		return bad(d, "it has no modules");
	size_t n = rows.row_ptr.n / sizeof(uint64_t) - 1;
	msd_err err = alloc_modules(tree, n, d);
	if (err != MSD_OK)
		return err;
	for (size_t i = 0; i < n; i++) {
		struct msd_tree_module *m = &tree->modules[i];

		m->kind = msd_cur_str64(c);
		if (!msd_span_is(m->kind, KIND_LIBRARY))
			m->payload = msd_cur_str64(c);
		if (c->bad)
			return truncated(d, i);
		tree->n_modules++;
	}
	if (!msd_cur_end(c))
		return bad(d, "bytes are left after its last module");
	tree->layout = MSD_BLOB_FRAMED;
	tree->has_import_tree = true;
	return msd_imports_set(tree, &rows, d);
}

static msd_err read_blob(struct msd_span blob, enum msd_era era, bool may_cut,
			 struct msd_tree *ret, struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(blob);
	uint64_t n = msd_cur_u64(&c);
	struct msd_tree tree = {0};
	msd_err err;

	if (c.bad || n != c.left) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "import tree: its size prefix says %" PRIu64
				    " bytes, but %zu exist",
				    n, c.left);
	}
	tree.blob = (struct msd_span){c.p, c.left};
	err = era == MSD_ERA_FFI ? read_framed(&c, &tree, d)
				 : read_inline(&c, era, may_cut, &tree, d);
	if (err != MSD_OK) {
		msd_tree_finish(&tree);
		return err;
	}
	*ret = tree;
	return MSD_OK;
}

msd_err msd_tree_read_blob(struct msd_span blob, enum msd_era era, struct msd_tree *ret,
			   struct msd_diag *d)
{
	return read_blob(blob, era, false, ret, d);
}

static msd_err read_no_blob(struct msd_tree *ret, struct msd_diag *d)
{
	struct msd_tree tree = {.layout = MSD_BLOB_NONE};
	msd_err err = alloc_modules(&tree, 1, d);

	if (err != MSD_OK)
		return err;
	add_library(&tree);
	*ret = tree;
	return MSD_OK;
}

/* The blob's symbol; in a system library it may have a prefix. */
static const struct msd_elf_sym *
find_symbol(const struct msd_elf *elf, const char *name, struct msd_span *ret_prefix)
{
	const struct msd_elf_sym *sym = msd_elf_find(elf, name);
	size_t n = strlen(name);

	for (size_t i = 0; sym == NULL && i < elf->n_syms; i++) {
		const struct msd_elf_sym *s = &elf->syms[i];
		size_t k = strlen(s->name);

		if (!s->defined || s->type == MSD_SYM_FUNC || n == 0 || k <= n ||
		    strcmp(s->name + k - n, name) != 0)
			continue;
		*ret_prefix = (struct msd_span){(const uint8_t *)s->name, k - n};
		sym = s;
	}
	return sym;
}

static msd_err read_library(const struct msd_elf *elf, enum msd_era era, bool may_cut,
			    struct msd_tree *ret, struct msd_diag *d)
{
	const char *name = msd_era_names(era)->blob;
	struct msd_span symbol_prefix = {0};
	const struct msd_elf_sym *sym = find_symbol(elf, name, &symbol_prefix);
	struct msd_span prefix;
	struct msd_span blob;

	if (sym == NULL)
		return read_no_blob(ret, d);
	if (!msd_elf_at(elf, sym->value, sizeof(uint64_t), &prefix))
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "%s is not in the file", name);
	uint64_t n = msd_le64(prefix.p);
	/* n is compared with the symbol's size first, so that the sum cannot wrap. */
	if (n > elf->image.n || (sym->size != 0 && n + sizeof(n) > sym->size) ||
	    !msd_elf_at(elf, sym->value, n + sizeof(n), &blob)) {
		return msd_diag_set(
			d, MSD_BAD_ARTIFACT,
			"%s: its size prefix says %" PRIu64
			" bytes, which it does not have (symbol size %" PRIu64 ")",
			name, n, sym->size);
	}
	msd_err err = read_blob(blob, era, may_cut, ret, d);
	if (err == MSD_OK)
		ret->symbol_prefix = symbol_prefix;
	return err;
}

msd_err msd_tree_read_library(const struct msd_elf *elf, enum msd_era era,
			      struct msd_tree *ret, struct msd_diag *d)
{
	return read_library(elf, era, false, ret, d);
}

msd_err msd_tree_show_library(const struct msd_elf *elf, enum msd_era era,
			      struct msd_tree *ret, struct msd_diag *d)
{
	return read_library(elf, era, true, ret, d);
}

void msd_tree_finish(struct msd_tree *tree)
{
	if (tree == NULL)
		return;
	free(tree->modules);
	free(tree->edges);
	free(tree->entries);
	*tree = (struct msd_tree){0};
}
