/*
 * Number the modules. 0.7 visits depth first with a stack: imports are pushed in
 * order, so the last import is visited first. Since 0.8 there are two phases: first
 * the modules that the root reaches without passing through a host module; then one
 * slot for all host modules together; then their imports.
 */
#include <stdlib.h>

#include "artifact/tree/imports.h"
#include "artifact/tree/write.h"

#define UNSEEN UINT32_MAX

/* State of a numbering. Each array has room for all modules of @from. */
struct walk {
	const struct msd_tree *from;
	uint32_t *index_of; /* old number -> new number */
	uint32_t *stack;
	uint32_t *hosts; /* phase 0 stops at these */
	bool *is_seen;
	uint32_t n_stack;
	uint32_t n_hosts;
	uint32_t n; /* number of new numbers assigned */
	bool merges;
};

static bool is_library(const struct msd_tree_module *m)
{
	return msd_span_is(m->kind, "_lib");
}

static void push_imports(struct walk *w, uint32_t i)
{
	const struct msd_tree_module *m = &w->from->modules[i];

	for (uint32_t k = 0; k < m->n_imports; k++) {
		if (w->is_seen[m->imports[k]])
			continue;
		w->is_seen[m->imports[k]] = true;
		w->stack[w->n_stack++] = m->imports[k];
	}
}

/* Visit everything below the stack; in phase 0 libraries wait for phase 1. */
static void descend(struct walk *w, bool stops_at_hosts, uint32_t host_slot)
{
	while (w->n_stack > 0) {
		uint32_t i = w->stack[--w->n_stack];
		bool is_host = w->merges && is_library(&w->from->modules[i]);

		if (is_host && stops_at_hosts) {
			w->hosts[w->n_hosts++] = i;
			continue;
		}
		w->index_of[i] = is_host ? host_slot : w->n++;
		push_imports(w, i);
	}
}

static void number(struct walk *w)
{
	w->stack[w->n_stack++] = 0;
	w->is_seen[0] = true;
	descend(w, true, UNSEEN);
	if (w->n_hosts == 0)
		return;
	uint32_t slot = w->n++;
	for (uint32_t i = 0; i < w->n_hosts; i++)
		w->stack[w->n_stack++] = w->hosts[i];
	descend(w, false, slot);
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a;
	const uint32_t *y = b;

	return (*x > *y) - (*x < *y);
}

/* The imports of new module @i, from all old modules merged into it. */
static void take_imports(const struct walk *w, uint32_t i, struct msd_tree *to,
			 uint32_t *n_edges)
{
	uint32_t *first = to->edges + *n_edges;
	uint32_t n = 0;

	for (uint32_t old = 0; old < w->from->n_modules; old++) {
		const struct msd_tree_module *m = &w->from->modules[old];

		if (w->index_of[old] != i)
			continue;
		to->modules[i].kind = m->kind;
		to->modules[i].payload = m->payload;
		for (uint32_t k = 0; k < m->n_imports; k++) {
			uint32_t child = w->index_of[m->imports[k]];

			if (child != i) /* merged host modules */
				first[n++] = child;
		}
	}
	qsort(first, n, sizeof(*first), compare);
	uint32_t kept = 0;
	for (uint32_t k = 0; k < n; k++) {
		if (k == 0 || first[k] != first[k - 1])
			first[kept++] = first[k];
	}
	to->modules[i].imports = first;
	to->modules[i].n_imports = kept;
	*n_edges += kept;
}

static msd_err set_layout(struct msd_tree *to, enum msd_tree_style style,
			  struct msd_diag *d)
{
	bool is_alone = to->n_modules == 1 && is_library(&to->modules[0]);

	to->layout = style == MSD_TREE_022 ? MSD_BLOB_FRAMED : MSD_BLOB_INLINE;
	to->has_import_tree =
		style == MSD_TREE_022 || (style != MSD_TREE_06 && !is_alone);
	if (style == MSD_TREE_06 || !is_alone || to->has_import_tree)
		return MSD_OK;
	to->entries = calloc(1, sizeof(*to->entries)); /* module 0, listed */
	to->n_entries = 1;
	return to->entries != NULL ? MSD_OK
				   : msd_diag_set(d, MSD_NOMEM,
						  "out of memory for the import tree");
}

static msd_err build(const struct walk *w, enum msd_tree_style style,
		     struct msd_tree *to, struct msd_diag *d)
{
	uint32_t n_edges = 0;
	size_t most = 1;

	for (uint32_t i = 0; i < w->from->n_modules; i++)
		most += w->from->modules[i].n_imports;
	to->modules = calloc(w->n, sizeof(*to->modules));
	to->edges = calloc(most, sizeof(*to->edges));
	if (to->modules == NULL || to->edges == NULL)
		return msd_diag_set(d, MSD_NOMEM, "out of memory for the import tree");
	to->n_modules = w->n;
	for (uint32_t i = 0; i < w->n; i++)
		take_imports(w, i, to, &n_edges);
	msd_err err = msd_imports_check(to, n_edges, d);
	return err == MSD_OK ? set_layout(to, style, d) : err;
}

msd_err msd_tree_order(const struct msd_tree *from, enum msd_tree_style style,
		       struct msd_tree *ret, struct msd_diag *d)
{
	size_t n = from->n_modules;
	struct msd_tree to = {0};
	struct walk w = {.from = from,
			 .merges = style != MSD_TREE_07,
			 .index_of = calloc(n, sizeof(uint32_t)),
			 .stack = calloc(n, sizeof(uint32_t)),
			 .hosts = calloc(n, sizeof(uint32_t)),
			 .is_seen = calloc(n, sizeof(bool))};
	msd_err err = MSD_OK;

	if (w.index_of == NULL || w.stack == NULL || w.hosts == NULL ||
	    w.is_seen == NULL)
		err = msd_diag_set(d, MSD_NOMEM, "out of memory for the import tree");
	if (err == MSD_OK) {
		for (size_t i = 0; i < n; i++)
			w.index_of[i] = UNSEEN;
		number(&w);
		err = build(&w, style, &to, d);
	}
	free(w.index_of);
	free(w.stack);
	free(w.hosts);
	free(w.is_seen);
	if (err != MSD_OK) {
		msd_tree_finish(&to);
		return err;
	}
	*ret = to;
	return MSD_OK;
}
