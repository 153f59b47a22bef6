/*
 * The functions of a loaded module by name.
 *
 * Happy path: once after the load, all nodes list their functions in lookup order; of
 * equal names the first is kept. The list is sorted for binary search. Functions that
 * no node lists may still be found by asking the nodes, and behind them a part of the
 * runtime's own functions. Failures: the error for an
 * unknown name lists similar names and the nodes that cannot be searched.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/base/grow.h"
#include "runtime/load/state.h"
#include "runtime/module/check.h"
#include "runtime/module/nearest.h"

struct collecting {
	struct msd_loaded *m;
	struct msd_node *node;
};

static msd_err collect(void *arg, const struct msd_func_info *info)
{
	struct collecting *c = arg;
	struct msd_loaded *m = c->m;

	if (!msd_grow(&m->entries, m->n_entries, sizeof(*m->entries)))
		return MSD_NOMEM;
	m->entries[m->n_entries] =
		(struct msd_loaded_entry){info, c->node, m->n_entries};
	m->n_entries++;
	return MSD_OK;
}

static int by_name(const void *a, const void *b)
{
	const struct msd_loaded_entry *x = a;
	const struct msd_loaded_entry *y = b;
	int c = strcmp(x->info->name, y->info->name);

	return c != 0 ? c : (x->order > y->order) - (x->order < y->order);
}

/* Depth first from the root, in lookup order; every node is reachable from it. */
static msd_err collect_below(struct collecting *c, struct msd_node *node, bool *seen)
{
	msd_err err = MSD_OK;

	if (seen[node->index])
		return MSD_OK;
	seen[node->index] = true;
	c->node = node;
	if (node->ops->list != NULL)
		err = node->ops->list(node, collect, c);
	for (size_t i = 0; err == MSD_OK && i < node->n_imports; i++)
		err = collect_below(c, node->imports[i], seen);
	return err;
}

msd_err msd_loaded_list(struct msd_loaded *m, struct msd_diag *d)
{
	struct collecting c = {.m = m};
	bool *seen = calloc(m->n_nodes + 1u, sizeof(*seen));
	msd_err err =
		seen != NULL ? collect_below(&c, msd_loaded_root(m), seen) : MSD_NOMEM;
	size_t kept = 0;

	free(seen);
	if (err != MSD_OK)
		return msd_diag_set(d, err, "list the functions");
	if (m->n_entries > 0)
		qsort(m->entries, m->n_entries, sizeof(*m->entries), by_name);
	for (size_t i = 0; i < m->n_entries; i++) {
		if (kept == 0 || strcmp(m->entries[kept - 1].info->name,
					m->entries[i].info->name) != 0)
			m->entries[kept++] = m->entries[i];
	}
	m->n_entries = kept;
	m->infos = calloc(kept + 1, sizeof(const struct msd_func_info *));
	if (m->infos == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < kept; i++)
		m->infos[i] = m->entries[i].info;
	return MSD_OK;
}

static const struct msd_loaded_entry *entry_find(const struct msd_loaded *m,
						 const char *name)
{
	size_t low = 0;
	size_t high = m->n_entries;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = strcmp(name, m->entries[middle].info->name);
		if (c == 0)
			return &m->entries[middle];
		if (c < 0) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return NULL;
}

/* The function is unknown: report the existing functions and the nodes that cannot be
 * searched. */
static msd_err not_found(struct msd_loaded *m, const char *name, struct msd_diag *d)
{
	struct msd_buf near = {0};
	struct msd_buf why = {0};
	msd_err err = MSD_NOT_FOUND;

	const struct msd_node *root = msd_loaded_root(m);
	const char *told = root->ops->tell != NULL ? root->ops->tell(root, name) : NULL;

	if (told != NULL)
		return msd_diag_set(d, err, "no function %s: %s", name, told);
	msd_nearest_names(name, m->infos, m->n_entries, &near);
	msd_node_refusals(msd_loaded_root(m), &why);
	(void)msd_diag_set(d, err, "no function %s%.*s%s%.*s", name, (int)near.n,
			   near.n > 0 ? (char *)near.p : "", why.n > 0 ? "; " : "",
			   (int)why.n, why.n > 0 ? (char *)why.p : "");
	msd_buf_finish(&near);
	msd_buf_finish(&why);
	return err;
}

msd_err msd_loaded_find(struct msd_loaded *m, const char *name,
			const struct msd_func_info **ret_info,
			struct msd_function **ret, struct msd_diag *d)
{
	const struct msd_loaded_entry *e = entry_find(m, name);
	struct msd_function *fn;

	if (e != NULL && e->info->refusal != NULL) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "%s: %s", name,
				    e->info->refusal);
	}
	fn = e != NULL ? e->node->ops->find(e->node, name)
		       : msd_node_lookup(msd_loaded_root(m), name);
	const bool is_own = fn != NULL;
	if (!is_own)
		fn = msd_node_lookup_for_client(name);
	if (fn == NULL)
		return not_found(m, name, d);
	if (e != NULL) {
		*ret_info = e->info;
	} else if (fn->rules != NULL) {
		*ret_info = &fn->rules->info;
	} else {
		m->found = (struct msd_func_info){.name = fn->name,
						  .style = MSD_FUNC_PRIM,
						  .signature = &m->unknown,
						  .module_kind = "",
						  .is_runtimes = !is_own};
		*ret_info = &m->found;
	}
	*ret = fn;
	return MSD_OK;
}
