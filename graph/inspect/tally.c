#include "graph/inspect/tally.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "proto/base/grow.h"

static bool count_op(struct msd_sg_tally *t, const char *op)
{
	size_t i = 0;

	while (i < t->n_rows && strcmp(t->rows[i].op, op) != 0)
		i++;
	if (i == t->n_rows) {
		if (!msd_grow(&t->rows, t->n_rows, sizeof(*t->rows)))
			return false;
		t->rows[t->n_rows++] = (struct msd_sg_tally_row){op, 0};
	}
	t->rows[i].n++;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct msd_sg_tally_row *x = a;
	const struct msd_sg_tally_row *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return strcmp(x->op, y->op);
}

static bool count_graph(struct msd_sg_tally *t, const modser_graph *g);

/* The subgraphs of an operator are its attributes. */
static bool count_node(struct msd_sg_tally *t, const modser_sg_node *node)
{
	const modser_sg_op *op = node->op;

	if (!msd_sg_node_is_given(node) && !count_op(t, modser_sg_op_name(op)))
		return false;
	for (size_t i = 0; op != NULL && i < op->attrs.n; i++) {
		const modser_sg_attr *a = &op->attrs.items[i].value;

		if (a->kind == MODSER_ATTR_GRAPH && !count_graph(t, a->as.graph))
			return false;
	}
	return true;
}

static void count_constant(struct msd_sg_tally *t, const modser_sg_tensor *constant)
{
	t->n_constants++;
	t->constant_bytes += constant->bytes;
	t->stripped_bytes += constant->is_stripped ? constant->bytes : 0;
}

/* Subgraphs are nested at most MODSER_GRAPH_MAX_DEPTH deep. */
static bool count_graph(struct msd_sg_tally *t, const modser_graph *g)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		if (!count_node(t, g->nodes[i]))
			return false;
	}
	for (size_t i = 0; i < g->n_tensors; i++) {
		if (g->tensors[i]->type == MODSER_TENSOR_CONST)
			count_constant(t, g->tensors[i]);
	}
	return true;
}

bool msd_sg_tally_count(const modser_graph *g, struct msd_sg_tally *ret)
{
	*ret = (struct msd_sg_tally){.n_nodes = g->n_nodes, .n_tensors = g->n_tensors};
	if (!count_graph(ret, g))
		return false;
	if (ret->n_rows > 0)
		qsort(ret->rows, ret->n_rows, sizeof(*ret->rows), compare);
	return true;
}

void msd_sg_tally_finish(struct msd_sg_tally *t)
{
	free(t->rows);
	*t = (struct msd_sg_tally){0};
}
