/*
 * Happy path: subgraphs are optimized first, because their nodes cost most. Each pass
 * gets the current order of the nodes, and removed nodes are swept after it. Nodes
 * that cannot be inferred stay: the plan reports why.
 */
#include "graph/pass/pass.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/ir/order.h"

/* Bytes read and written, for a model. */
#define MOST_FOLDED (UINT64_C(16) << 20)
#define MOST_WEIGHTS (UINT64_C(1) << 30)

#define ROW(name) [MSD_PASS_##name] = &msd_pass_##name,
static const struct msd_pass *const passes[] = {MSD_PASSES(ROW)};
#undef ROW

static int run_one(const struct msd_pass *pass, struct msd_pass_job *job, size_t *ret_n)
{
	size_t *order = calloc(job->g->n_nodes + 1, sizeof(*order));
	size_t n = 0;

	if (order == NULL)
		return msd_sg_no_memory(job->g);
	int result = msd_sg_order(job->g, order);
	job->order = order;
	if (result == 0)
		result = pass->run(job, &n);
	free(order);
	*ret_n += n;
	return result == 0 && n > 0 ? msd_sg_sweep(job->g) : result;
}

static int run_all(modser_graph *g, struct msd_pass_job job, struct msd_passed *ret);

static int fail_within(modser_graph *g, const modser_graph *inner)
{
	return msd_sg_fail(g, inner->diag.code, "%s", modser_graph_error(inner));
}

/* Subgraphs are nested at most MODSER_GRAPH_MAX_DEPTH deep. */
static int run_within(const modser_sg_node *node, struct msd_pass_job job,
		      struct msd_passed *ret)
{
	const struct msd_sg_attrs *attrs = &node->op->attrs;

	job.is_within = true;
	for (size_t i = 0; i < attrs->n; i++) {
		const modser_sg_attr *a = &attrs->items[i].value;

		if (a->kind == MODSER_ATTR_GRAPH && run_all(a->as.graph, job, ret) != 0)
			return fail_within(node->graph, a->as.graph);
	}
	return 0;
}

static int run_all(modser_graph *g, struct msd_pass_job job, struct msd_passed *ret)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < g->n_nodes; i++)
		result = run_within(g->nodes[i], job, ret);
	job.g = g;
	for (size_t i = 0; result == 0 && i < MSD_PASS_COUNT; i++)
		result = run_one(passes[i], &job, &ret->n[i]);
	return result;
}

bool msd_passes_make(const char *op)
{
	for (size_t i = 0; i < MSD_PASS_COUNT * MSD_PASS_MADE; i++) {
		const char *made = passes[i / MSD_PASS_MADE]->made[i % MSD_PASS_MADE];

		if (made != NULL && strcmp(made, op) == 0)
			return true;
	}
	return false;
}

int msd_passes_run(modser_graph *g, struct msd_pass_host host, struct msd_passed *ret)
{
	uint64_t room = MOST_FOLDED;
	uint64_t weights = MOST_WEIGHTS;
	const struct msd_pass_job job = {
		.host = host, .room = &room, .weights_room = &weights};

	*ret = (struct msd_passed){0};
	return run_all(g, job, ret);
}

void msd_passed_text(const struct msd_passed *p, struct msd_buf *out)
{
	const char *before = "passes: ";

	for (size_t i = 0; i < MSD_PASS_COUNT; i++) {
		if (p->n[i] == 0)
			continue;
		msd_buf_printf(out, "%s%s %zu", before, passes[i]->what, p->n[i]);
		before = ", ";
	}
	if (*before == ',')
		msd_buf_put_u8(out, '\n');
}
