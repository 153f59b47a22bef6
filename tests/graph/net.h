#ifndef MSD_TESTS_NET_H
#define MSD_TESTS_NET_H
/* A small graph made by the public API alone: y = x * w, sound until a test breaks it.
 */
#include "graph/modser_graph.h"

static inline modser_sg_node *net_node(modser_graph *g, const char *name,
				       const char *op, modser_sg_tensor *output)
{
	modser_sg_node *node = modser_sg_node_create(g, name);

	(void)modser_sg_node_set_op(node, modser_sg_op_create(g, op));
	(void)modser_sg_node_add_output(node, output);
	return node;
}

static inline modser_graph *net_create(void)
{
	static const float weights[6] = {1, 2, 3, 4, 5, 6};
	static const int64_t x_dims[] = {1, 3};
	static const int64_t w_dims[] = {2, 3};
	modser_graph *g = modser_graph_create("net");
	modser_sg_tensor *x = modser_sg_tensor_create(g, "x");
	modser_sg_tensor *w = modser_sg_tensor_create_const(g, "w");
	modser_sg_tensor *y = modser_sg_tensor_create(g, "y");

	(void)modser_sg_tensor_set_type(x, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_dims(x, x_dims, 2);
	(void)modser_sg_tensor_set_dims(w, w_dims, 2);
	(void)modser_sg_tensor_set_size(w, sizeof(weights));
	(void)modser_sg_tensor_set_buffer(w, weights, NULL);
	(void)net_node(g, "x", "InputOp", x);
	(void)net_node(g, "w", "Const", w);
	modser_sg_node *fc = net_node(g, "fc", "FullyConnected", y);
	(void)modser_sg_op_set_int(modser_sg_node_op(fc), "num_output", 2);
	(void)modser_sg_node_add_input(fc, x);
	(void)modser_sg_node_add_input(fc, w);
	(void)modser_graph_add_input(g, x);
	(void)modser_graph_add_output(g, y);
	return g;
}

#endif
