#include "artifact/tree/imports.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static msd_err bad(struct msd_diag *d, const char *what)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "import tree: %s", what);
}

static msd_err no_memory(struct msd_diag *d)
{
	return msd_diag_set(d, MSD_NOMEM, "out of memory for the import tree");
}

/* vec<u64>: u64 count, then the elements. */
static struct msd_span read_u64s(struct msd_cur *c)
{
	size_t n = msd_cur_count64(c, sizeof(uint64_t));
	const uint8_t *p = msd_cur_read(c, n * sizeof(uint64_t));

	return (struct msd_span){p, p != NULL ? n * sizeof(uint64_t) : 0};
}

struct msd_import_rows msd_import_rows_read(struct msd_cur *c)
{
	struct msd_import_rows rows;

	rows.row_ptr = read_u64s(c);
	rows.children = read_u64s(c);
	return rows;
}

/* A payload may contain the same bytes, but hardly with rows that end at its end. */
bool msd_import_rows_find(struct msd_span rest, struct msd_import_rows *ret,
			  struct msd_span *ret_before)
{
	static const char key[] = "\14\0\0\0\0\0\0\0" MSD_IMPORT_ROWS_KEY;
	const uint8_t *at = rest.p;
	size_t left = rest.n;

	while (left > 0 && (at = memmem(at, left, key, sizeof(key) - 1)) != NULL) {
		left = rest.n - (size_t)(at - rest.p);
		struct msd_cur c = msd_cur_of((struct msd_span){
			at + sizeof(key) - 1, left - (sizeof(key) - 1)});
		const struct msd_import_rows rows = msd_import_rows_read(&c);
		if (msd_cur_end(&c) && rows.row_ptr.n > 0) {
			*ret = rows;
			*ret_before = (struct msd_span){rest.p, (size_t)(at - rest.p)};
			return true;
		}
		at++;
		left--;
	}
	return false;
}

/* Kahn's algorithm: it stops early if the rest contains a cycle. */
msd_err msd_imports_check(const struct msd_tree *tree, size_t n_edges,
			  struct msd_diag *d)
{
	const size_t n = tree->n_modules;
	uint32_t *importers = calloc(n > 0 ? n : 1u, 2 * sizeof(*importers));
	uint32_t n_ready = 0;

	if (importers == NULL)
		return no_memory(d);
	uint32_t *ready = importers + n;
	for (size_t i = 0; i < n_edges; i++)
		importers[tree->edges[i]]++;
	for (uint32_t i = 0; i < tree->n_modules; i++) {
		if (importers[i] == 0)
			ready[n_ready++] = i;
	}
	for (uint32_t i = 0; i < n_ready; i++) {
		const struct msd_tree_module *m = &tree->modules[ready[i]];

		for (uint32_t k = 0; k < m->n_imports; k++) {
			if (--importers[m->imports[k]] == 0)
				ready[n_ready++] = m->imports[k];
		}
	}
	free(importers);
	return n_ready == tree->n_modules ? MSD_OK
					  : bad(d, "modules import each other");
}

msd_err msd_imports_set(struct msd_tree *tree, const struct msd_import_rows *rows,
			struct msd_diag *d)
{
	size_t n_edges = rows->children.n / sizeof(uint64_t);
	uint64_t from = 0;

	if (rows->row_ptr.n != (tree->n_modules + (size_t)1) * sizeof(uint64_t))
		return bad(d, "its rows do not match the number of modules");
	if (n_edges > UINT32_MAX)
		return bad(d, "too many imports");
	tree->edges = calloc(n_edges > 0 ? n_edges : 1u, sizeof(*tree->edges));
	if (tree->edges == NULL)
		return no_memory(d);
	for (size_t i = 0; i < n_edges; i++) {
		uint64_t child = msd_le64(rows->children.p + i * sizeof(uint64_t));

		if (child >= tree->n_modules) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "import tree: import %" PRIu64
					    " is not one of its %u modules",
					    child, tree->n_modules);
		}
		tree->edges[i] = (uint32_t)child;
	}
	if (msd_le64(rows->row_ptr.p) != 0)
		return bad(d, "its first row does not start at 0");
	for (uint32_t i = 0; i < tree->n_modules; i++) {
		uint64_t to = msd_le64(rows->row_ptr.p + (i + (size_t)1) * 8);

		if (to < from || to > n_edges)
			return bad(d, "its rows are not in order");
		tree->modules[i].imports = tree->edges + from;
		tree->modules[i].n_imports = (uint32_t)(to - from);
		from = to;
	}
	if (from != n_edges)
		return bad(d, "it lists imports that belong to no module");
	return msd_imports_check(tree, n_edges, d);
}

msd_err msd_imports_imply(struct msd_tree *tree, struct msd_diag *d)
{
	size_t n_edges = tree->n_modules - (size_t)1;

	tree->edges = calloc(n_edges > 0 ? n_edges : 1u, sizeof(*tree->edges));
	if (tree->edges == NULL)
		return no_memory(d);
	for (uint32_t i = 0; i < n_edges; i++)
		tree->edges[i] = i + 1;
	tree->modules[0].imports = tree->edges;
	tree->modules[0].n_imports = (uint32_t)n_edges;
	return MSD_OK;
}
