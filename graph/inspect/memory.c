/*
 * Compute the memory that a run of a graph needs, without running it.
 *
 * Happy path: shapes are inferred in the order in which nodes run, as a plan does it.
 * Each tensor that a node produces gets an offset in an arena that is never
 * allocated.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "graph/inspect/inspect.h"
#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/ir/order.h"
#include "graph/layout/memory_plan.h"
#include "graph/layout/views.h"
#include "proto/base/json.h"

static bool is_open(const modser_sg_tensor *t)
{
	for (int i = 0; i < t->ndim; i++) {
		if (t->dims[i] < 0)
			return true;
	}
	return t->ndim < 0;
}

/* Infer nodes after one with an unknown shape as well: their shapes may be invalid. */
static int infer_all(modser_graph *g, const size_t *order)
{
	int result = 0;

	for (size_t step = 0; step < g->n_nodes; step++) {
		modser_sg_node *node = g->nodes[order[step]];
		const bool is_given = msd_sg_node_is_given(node);
		const int one = is_given ? (is_open(node->outputs[0]) ? 1 : 0)
					 : msd_sg_infer_node(node);

		if (one < 0)
			return -1;
		result = one != 0 ? 1 : result;
	}
	return result;
}

static int put_all(modser_graph *g, const size_t *order, uint64_t *ret)
{
	size_t *last = calloc(g->n_tensors + 1, sizeof(*last));
	struct msd_views v = {0};
	struct msd_memory_plan l = {0};

	if (last == NULL)
		return msd_sg_no_memory(g);
	msd_memory_plan_find_last_reads(last, g, order);
	msd_err err = msd_views_init(&v, g, order, last, NULL, &g->diag);
	if (err == MSD_OK)
		err = msd_memory_plan_init(&l, g, order, &v, NULL, &g->diag);
	if (err == MSD_OK)
		*ret = l.bytes;
	msd_memory_plan_finish(&l);
	msd_views_finish(&v);
	free(last);
	return err == MSD_OK ? 0 : -1;
}

int msd_sg_inspect_run(modser_graph *g, uint64_t *ret)
{
	size_t *order = calloc(g->n_nodes + 1, sizeof(*order));

	if (order == NULL)
		return msd_sg_no_memory(g);
	int result = msd_sg_order(g, order);
	if (result == 0)
		result = infer_all(g, order);
	if (result == 0)
		result = put_all(g, order, ret);
	free(order);
	return result;
}

/* The user can fix the shapes of inputs, but not shapes that depend on values. */
static void put_advice(const modser_graph *g, struct msd_buf *out)
{
	for (size_t i = 0; i < g->n_inputs; i++) {
		if (!is_open(g->inputs[i]))
			continue;
		msd_buf_printf(out, "; --input says that of ");
		msd_json_cstr(out, g->inputs[i]->name);
		return;
	}
}

void msd_sg_inspect_run_text(modser_graph *g, struct msd_buf *out)
{
	uint64_t bytes = 0;
	const int result = msd_sg_inspect_run(g, &bytes);

	if (result == 0) {
		msd_buf_printf(out, "memory of a run %" PRIu64 " bytes\n", bytes);
	} else if (result > 0) {
		msd_buf_printf(out, "memory of a run: shapes are known only in a run");
		put_advice(g, out);
		msd_buf_put_u8(out, '\n');
	} else {
		msd_buf_printf(out, "memory of a run: not known: %s\n",
			       modser_graph_error(g));
	}
}
