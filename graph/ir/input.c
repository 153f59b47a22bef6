/* An input of a graph: its tensor, its node and its place among the inputs. */
#include "graph/ir/graph.h"

modser_sg_tensor *modser_graph_create_input(modser_graph *graph, const char *name,
					    const char *dtype, const int64_t *dims,
					    size_t n)
{
	modser_sg_tensor *t = modser_sg_tensor_create(graph, name);
	modser_sg_node *node = t != NULL ? modser_sg_node_create(graph, name) : NULL;
	modser_sg_op *op = node != NULL ? modser_sg_op_create(graph, "InputOp") : NULL;

	if (op == NULL || modser_sg_tensor_set_dtype(t, dtype) != 0 ||
	    modser_sg_tensor_set_dims(t, dims, n) != 0 ||
	    modser_sg_tensor_set_type(t, MODSER_TENSOR_INPUT) != 0 ||
	    modser_sg_node_add_output(node, t) < 0)
		return NULL;
	msd_sg_node_take_op(node, op);
	return modser_graph_add_input(graph, t) == 0 ? t : NULL;
}
