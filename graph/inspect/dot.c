#include "graph/inspect/inspect.h"
#include "graph/ir/dump.h"
#include "graph/ir/graph.h"
#include "proto/base/json.h"

static bool is_const(const modser_sg_tensor *t)
{
	return t == NULL || t->type == MODSER_TENSOR_CONST;
}

static void put_label(struct msd_buf *out, const struct msd_buf *label)
{
	/* JSON and Graphviz quote strings in the same way. */
	msd_json_str(out, (struct msd_span){label->p, label->n});
	out->bad |= label->bad;
}

static void put_node(struct msd_buf *out, const modser_sg_node *node)
{
	struct msd_buf label = {0};

	if (node->n_outputs > 0 && is_const(node->outputs[0]))
		return;
	msd_buf_printf(&label, "%s\n%s", node->op->schema->name, node->name);
	msd_buf_printf(out, "\tn%zu [label=", node->index);
	put_label(out, &label);
	msd_buf_printf(out, "];\n");
	msd_buf_finish(&label);
}

static void put_edges(struct msd_buf *out, const modser_sg_node *node)
{
	for (size_t i = 0; i < node->n_inputs; i++) {
		struct msd_buf label = {0};

		if (is_const(node->inputs[i]))
			continue;
		msd_sg_put_shape(&label, node->inputs[i]);
		msd_buf_printf(out, "\tn%zu -> n%zu [label=",
			       node->inputs[i]->producer->index, node->index);
		put_label(out, &label);
		msd_buf_printf(out, "];\n");
		msd_buf_finish(&label);
	}
}

void msd_sg_inspect_dot(const modser_graph *g, struct msd_buf *out)
{
	msd_buf_printf(out, "digraph model {\n\tnode [shape=box];\n");
	for (size_t i = 0; i < g->n_nodes; i++)
		put_node(out, g->nodes[i]);
	for (size_t i = 0; i < g->n_nodes; i++)
		put_edges(out, g->nodes[i]);
	msd_buf_printf(out, "}\n");
}
