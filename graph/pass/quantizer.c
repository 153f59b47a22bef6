/* How a node becomes an integer node, and tables of bytes. */
#include "graph/pass/quantizer.h"

#include <stdlib.h>

#include "graph/ir/edit.h"
#include "graph/ir/graph.h"
#include "graph/op/quantized/quantize.h"

/* Parameters that both operators have stay. */
static modser_sg_op *make_op(const modser_sg_node *node,
			     const struct msd_quantizer_made *m)
{
	modser_sg_op *op = modser_sg_op_create(node->graph, m->op);

	if (op == NULL || msd_sg_copy_params(op, node->op) != 0 ||
	    (m->param != NULL && modser_sg_op_set_int(op, m->param, m->value) != 0))
		return NULL;
	if (m->has_limits && (msd_sg_set_float(op, "low", m->tail.low) != 0 ||
			      msd_sg_set_float(op, "high", m->tail.high) != 0))
		return NULL;
	return op;
}

bool msd_quantizer_may(const struct msd_quantizer *q, const modser_sg_node *node,
		       const struct msd_quantizer_made *m)
{
	const struct msd_quantized_tail *t = &m->tail;

	for (size_t i = 0; i < t->n; i++) {
		if (!q->job->host.may_make(t->nodes[i], m->op))
			return false;
	}
	return q->job->host.may_make(node, m->op);
}

static void take_tail(modser_sg_node *node, const struct msd_quantized_tail *t)
{
	for (size_t i = 0; i < t->n; i++)
		msd_sg_merge(t->nodes[i], node);
	if (t->n > 0)
		msd_sg_give_output(node, 0, t->y);
}

/* Turn @node into the integer node. */
int msd_quantizer_make(struct msd_quantizer *q, modser_sg_node *node,
		       const struct msd_quantizer_made *m)
{
	if (!msd_quantizer_may(q, node, m))
		return 0;
	modser_sg_op *op = make_op(node, m);
	if (op == NULL)
		return -1;
	take_tail(node, &m->tail);
	if (msd_sg_become(node, op, m->inputs, MSD_QUANTIZED_INPUTS) != 0)
		return -1;
	q->n++;
	return 0;
}

void msd_quantizer_operand(struct msd_quantizer_made *m, size_t at,
			   const struct msd_quantized *x)
{
	m->inputs[at] = x->x;
	m->inputs[at + 1] = x->scale;
	m->inputs[at + 2] = x->zero;
}

void msd_quantizer_end(struct msd_quantizer_made *m)
{
	m->has_limits = true;
	m->inputs[MSD_QUANTIZED_Y_SCALE] = m->tail.to.scale;
	m->inputs[MSD_QUANTIZED_Y_ZERO] =
		m->tail.to.scale != NULL ? m->tail.to.zero : NULL;
}

int msd_quantizer_table(const struct msd_quantizer *q, const modser_sg_node *function,
			const struct msd_quantized *from,
			const struct msd_quantized *to, modser_sg_tensor **ret)
{
	const int64_t dims[] = {256};
	uint8_t *table = malloc(256);

	if (table == NULL)
		return msd_sg_no_memory(q->job->g);
	msd_quantized_table(function, from, to, table);
	*ret = msd_sg_add_const(q->job->g, to->scale->name, to->dtype, dims, 1, table);
	if (*ret == NULL)
		free(table);
	return *ret != NULL ? 0 : -1;
}

int msd_quantizer_change(const struct msd_quantizer *q, const struct msd_quantized *x,
			 const struct msd_quantized *to, modser_sg_tensor **ret)
{
	modser_graph *g = q->job->g;
	modser_sg_tensor *table = NULL;

	if (msd_quantizer_table(q, NULL, x, to, &table) != 0)
		return -1;
	modser_sg_node *node = modser_sg_node_create(g, x->x->name);
	modser_sg_op *op =
		node != NULL ? modser_sg_op_create(g, MSD_QUANTIZED_TABLE) : NULL;
	modser_sg_tensor *y =
		op != NULL ? modser_sg_tensor_create(g, x->x->name) : NULL;

	if (y == NULL || modser_sg_node_add_input(node, x->x) < 0 ||
	    modser_sg_node_add_input(node, table) < 0 ||
	    modser_sg_node_add_output(node, y) < 0)
		return -1;
	msd_sg_node_take_op(node, op);
	*ret = y;
	return 0;
}
