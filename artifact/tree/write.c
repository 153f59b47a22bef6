#include "artifact/tree/write.h"

#define KIND_LIBRARY "_lib"
#define KIND_TREE "_import_tree"

static void put_text(struct msd_buf *out, struct msd_span s)
{
	msd_buf_put_str64(out, s.p, s.n);
}

static void put_rows(const struct msd_tree *tree, struct msd_buf *out)
{
	uint64_t n = 0;

	msd_buf_put_u64(out, tree->n_modules + (uint64_t)1);
	msd_buf_put_u64(out, 0);
	for (uint32_t i = 0; i < tree->n_modules; i++) {
		n += tree->modules[i].n_imports;
		msd_buf_put_u64(out, n);
	}
	msd_buf_put_u64(out, n);
	for (uint32_t i = 0; i < tree->n_modules; i++) {
		for (uint32_t k = 0; k < tree->modules[i].n_imports; k++)
			msd_buf_put_u64(out, tree->modules[i].imports[k]);
	}
}

static void put_module(const struct msd_tree_module *m, bool is_framed,
		       struct msd_buf *out)
{
	put_text(out, m->kind);
	if (msd_span_is(m->kind, KIND_LIBRARY))
		return;
	if (is_framed) {
		put_text(out, m->payload);
	} else {
		msd_buf_put(out, m->payload.p, m->payload.n);
	}
}

static void put_entry(const struct msd_tree *tree, uint32_t entry, struct msd_buf *out)
{
	if (entry != MSD_TREE_ENTRY) {
		put_module(&tree->modules[entry], false, out);
		return;
	}
	msd_buf_put_str64(out, KIND_TREE, sizeof(KIND_TREE) - 1);
	put_rows(tree, out);
}

/* Without a tree in the file the root must be the library and import all other
 * modules. */
static bool is_implied(const struct msd_tree *tree)
{
	if (tree->n_modules == 0 || !msd_span_is(tree->modules[0].kind, KIND_LIBRARY) ||
	    tree->modules[0].n_imports != tree->n_modules - 1)
		return false;
	for (uint32_t i = 1; i < tree->n_modules; i++) {
		if (tree->modules[0].imports[i - 1] != i ||
		    tree->modules[i].n_imports != 0 ||
		    msd_span_is(tree->modules[i].kind, KIND_LIBRARY))
			return false;
	}
	return true;
}

static msd_err put_inline(const struct msd_tree *tree, struct msd_buf *out,
			  struct msd_diag *d)
{
	if (!tree->has_import_tree && !is_implied(tree)) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "without an import tree in the file the root must "
				    "be the library and import all the others");
	}
	if (tree->entries != NULL) {
		msd_buf_put_u64(out, tree->n_entries);
		for (uint32_t i = 0; i < tree->n_entries; i++)
			put_entry(tree, tree->entries[i], out);
		return MSD_OK;
	}
	uint32_t first = tree->has_import_tree ? 0 : 1;
	msd_buf_put_u64(out, tree->has_import_tree ? tree->n_modules + (uint64_t)1
						   : tree->n_modules - (uint64_t)1);
	for (uint32_t i = first; i < tree->n_modules; i++)
		put_entry(tree, i, out);
	if (tree->has_import_tree)
		put_entry(tree, MSD_TREE_ENTRY, out);
	return MSD_OK;
}

static void put_framed(const struct msd_tree *tree, struct msd_buf *out)
{
	put_rows(tree, out);
	for (uint32_t i = 0; i < tree->n_modules; i++)
		put_module(&tree->modules[i], true, out);
}

/* Reserve room for everything at once: payloads are as large as models. */
static bool reserve(const struct msd_tree *tree, struct msd_buf *out)
{
	size_t n = 64;

	for (uint32_t i = 0; i < tree->n_modules; i++) {
		const struct msd_tree_module *m = &tree->modules[i];
		size_t more = 40 + m->n_imports * sizeof(uint64_t);

		if (!msd_add_size(more, m->kind.n, &more) ||
		    !msd_add_size(more, m->payload.n, &more) ||
		    !msd_add_size(n, more, &n))
			return false;
	}
	return msd_buf_reserve(out, n);
}

msd_err msd_tree_write(const struct msd_tree *tree, struct msd_buf *out,
		       struct msd_diag *d)
{
	size_t start = out->n;
	msd_err err = MSD_OK;

	if (tree->layout == MSD_BLOB_NONE)
		return MSD_OK;
	if (!reserve(tree, out))
		return msd_diag_set(d, MSD_NOMEM, "out of memory for the blob");
	msd_buf_put_u64(out, 0); /* the size, known at the end */
	if (tree->layout == MSD_BLOB_FRAMED) {
		put_framed(tree, out);
	} else {
		err = put_inline(tree, out, d);
	}
	if (err == MSD_OK && out->bad)
		err = msd_diag_set(d, MSD_NOMEM, "out of memory for the blob");
	if (err == MSD_OK)
		msd_put_le64(out->p + start, out->n - start - sizeof(uint64_t));
	return err;
}
