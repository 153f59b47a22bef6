/*
 * A graph prepared to run: contents and size of each storage, operators with their
 * arguments, and the nodes that are only views.
 *
 * Happy path: storages are sized by their largest entry, inputs and parameters claim
 * theirs. Each operator's function is found among the imports, parameters are filled
 * (params.c), and the functions' signatures are compared (check.c). Missing functions
 * are collected and are not an error: the model is still listed.
 */
#include "runtime/executor/graph/plan.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/value/value.h"

#define MISSING_MAX 512 /* bytes of text */

/* Free everything except the graph. */
static void plan_finish(struct msd_graph_plan *p)
{
	for (uint32_t i = 0; p->storages != NULL && i < p->graph.n_storages; i++) {
		if (p->storages[i].own != NULL)
			msd_obj_unref(&p->storages[i].own->obj);
	}
	free(p->storages);
	free(p->ops);
	free(p->inputs);
}

void msd_graph_plan_destroy(struct msd_graph_plan *p)
{
	if (p == NULL)
		return;
	plan_finish(p);
	msd_graph_finish(&p->graph);
	free(p);
}

static msd_err bad_node(const struct msd_graph_node *node, const char *what,
			struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "graph: node %.64s: %s", node->name,
			    what);
}

/* Size each storage by its largest entry, all on one device. */
static msd_err size_storages(struct msd_graph_plan *p, struct msd_diag *d)
{
	const struct msd_graph *g = &p->graph;
	int32_t *types = calloc((size_t)g->n_storages + 1, sizeof(*types));
	msd_err err = MSD_OK;

	if (types == NULL)
		return msd_diag_set(d, MSD_NOMEM, "graph: out of memory");
	for (uint32_t i = 0; err == MSD_OK && i < g->n_entries; i++) {
		const struct msd_graph_entry *e = &g->entries[i];
		if (p->storages[e->storage].bytes < e->bytes)
			p->storages[e->storage].bytes = e->bytes;
		if (types[e->storage] != 0 && types[e->storage] != e->device_type) {
			err = msd_diag_set(d, MSD_BAD_ARTIFACT,
					   "graph: storage %lld is on two devices",
					   (long long)g->storage_ids[e->storage]);
		}
		types[e->storage] = e->device_type;
	}
	free(types);
	return err;
}

/* Inputs and parameters do not share their storage, except with views of it. */
static msd_err claim_inputs(struct msd_graph_plan *p, struct msd_diag *d)
{
	const struct msd_graph *g = &p->graph;

	for (uint32_t i = 0; i < g->n_args; i++) {
		const struct msd_graph_node *node = &g->nodes[g->args[i]];
		const struct msd_graph_entry *e = &g->entries[node->first_entry];
		struct msd_graph_storage *s = &p->storages[e->storage];

		if (s->role != MSD_GRAPH_WORK) {
			return bad_node(node,
					"it shares its storage with another input", d);
		}
		s->role = MSD_GRAPH_INPUT;
		s->is_written =
			s->bytes != e->bytes; /* the storage also holds another entry */
	}
	return MSD_OK;
}

/* True if @node's output has the memory of its input: then it is a view. */
static bool is_view(const struct msd_graph *g, const struct msd_graph_node *node)
{
	return node->n_inputs == 1 && node->n_entries == 1 &&
	       g->entries[node->inputs[0]].storage ==
		       g->entries[node->first_entry].storage;
}

static msd_err check_copy(const struct msd_graph *g, const struct msd_graph_node *node,
			  struct msd_diag *d)
{
	if (node->n_inputs != 1 || node->n_entries != 1 ||
	    g->entries[node->inputs[0]].bytes != g->entries[node->first_entry].bytes)
		return bad_node(node, "input and output are not of one size", d);
	return MSD_OK;
}

/* Record a missing function and the node that calls it; only the first few are kept. */
static void note_missing(const struct msd_graph *g, uint32_t i, struct msd_buf *missing)
{
	if (missing->n >= MISSING_MAX)
		return;
	msd_buf_printf(missing, "%s%.128s (node %u, %.64s)", missing->n > 0 ? ", " : "",
		       g->nodes[i].func, i, g->nodes[i].name);
	if (missing->n >= MISSING_MAX)
		msd_buf_printf(missing, ", ...");
}

static msd_err op_plan(struct msd_graph_plan *p, uint32_t i,
		       struct msd_graph_finder finder, struct msd_buf *missing,
		       struct msd_diag *d)
{
	const struct msd_graph_node *node = &p->graph.nodes[i];
	const bool is_copy =
		strcmp(node->func, "__nop") == 0 || strcmp(node->func, "__copy") == 0;
	struct msd_graph_op op = {.node = i};

	if (is_copy && is_view(&p->graph, node))
		return MSD_OK;
	if (is_copy) {
		msd_err err = check_copy(&p->graph, node, d);
		if (err != MSD_OK)
			return err;
	} else {
		op.fn = finder.find(finder.ctx, node->func);
		if (op.fn == NULL)
			note_missing(&p->graph, i, missing);
	}
	for (uint32_t k = 0; k < node->n_entries; k++) {
		const struct msd_graph_entry *e =
			&p->graph.entries[node->first_entry + k];
		struct msd_graph_storage *s = &p->storages[e->storage];

		if (s->role == MSD_GRAPH_PARAM)
			return bad_node(node, "it writes over a parameter", d);
		s->is_written = true;
	}
	p->n_args += node->n_inputs + node->n_entries;
	p->ops[p->n_ops++] = op;
	return MSD_OK;
}

static msd_err plan_ops(struct msd_graph_plan *p, struct msd_graph_finder finder,
			struct msd_buf *missing, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (uint32_t i = 0; err == MSD_OK && i < p->graph.n_nodes; i++) {
		if (p->graph.nodes[i].func != NULL)
			err = op_plan(p, i, finder, missing, d);
	}
	return err;
}

static void list_inputs(struct msd_graph_plan *p)
{
	const struct msd_graph *g = &p->graph;

	for (uint32_t i = 0; i < g->n_args; i++) {
		const uint32_t entry = g->nodes[g->args[i]].first_entry;
		if (p->storages[g->entries[entry].storage].role == MSD_GRAPH_INPUT)
			p->inputs[p->n_inputs++] = entry;
	}
	for (uint32_t i = 0; i < g->n_heads; i++) {
		struct msd_graph_storage *s =
			&p->storages[g->entries[g->heads[i]].storage];
		if (s->role == MSD_GRAPH_WORK)
			s->role = MSD_GRAPH_OUTPUT;
	}
}

static msd_err plan_fill(struct msd_graph_plan *p, const struct msd_params *params,
			 struct msd_graph_finder finder, struct msd_buf *missing,
			 struct msd_diag *d)
{
	const struct msd_graph *g = &p->graph;

	p->storages = calloc((size_t)g->n_storages + 1, sizeof(*p->storages));
	p->ops = calloc((size_t)g->n_nodes + 1, sizeof(*p->ops));
	p->inputs = calloc((size_t)g->n_args + 1, sizeof(*p->inputs));
	if (p->storages == NULL || p->ops == NULL || p->inputs == NULL)
		return msd_diag_set(d, MSD_NOMEM, "graph: out of memory");
	msd_err err = size_storages(p, d);
	if (err == MSD_OK)
		err = claim_inputs(p, d);
	if (err == MSD_OK)
		err = msd_graph_plan_params(p, params, finder, d);
	if (err == MSD_OK)
		err = plan_ops(p, finder, missing, d);
	if (err == MSD_OK)
		list_inputs(p);
	return err;
}

msd_err msd_graph_plan_create(struct msd_graph *graph, const struct msd_params *params,
			      struct msd_graph_finder finder, struct msd_buf *missing,
			      struct msd_graph_plan **ret, struct msd_diag *d)
{
	struct msd_graph_plan *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return msd_diag_set(d, MSD_NOMEM, "graph: out of memory");
	p->graph = *graph;
	msd_err err = plan_fill(p, params, finder, missing, d);
	if (err != MSD_OK) {
		plan_finish(p);
		free(p);
		return err;
	}
	*graph = (struct msd_graph){0};
	*ret = p;
	return MSD_OK;
}
