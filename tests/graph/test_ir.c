/* The guide's API, section 4: what is created is there, and the graph owns it. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/graph/net.h"

TestSuite(graph_ir, .timeout = 60);

Test(graph_ir, operators_begin_with_their_defaults)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_op *op = modser_sg_op_create(g, "Concat");

	cr_assert_eq(modser_sg_op_int(op, "axis"), 1);
	cr_assert_eq(modser_sg_op_default("Concat", "axis")->as.i, 1);
	cr_assert_eq(modser_sg_op_set_int(op, "axis", 2), 0);
	cr_assert_eq(modser_sg_op_int(op, "axis"), 2);
	cr_assert_eq(modser_sg_op_default("Concat", "axis")->as.i, 1);
	modser_graph_destroy(g);
}

Test(graph_ir, unknown_operators_and_parameters_are_named)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_op *op = modser_sg_op_create(g, "Concat");
	const modser_sg_attr number = {.kind = MODSER_ATTR_FLOAT, .as.f = 1};

	cr_assert_null(modser_sg_op_create(g, "Conkat"));
	cr_assert_str_eq(modser_graph_error(g), "no operator is called \"Conkat\"");
	cr_assert_str_eq(modser_graph_error_name(g), "UNSUPPORTED");
	cr_assert_eq(modser_sg_op_set_int(op, "axes", 1), -1);
	cr_assert_str_eq(modser_graph_error(g),
			 "operator Concat has no parameter \"axes\"");
	cr_assert_eq(modser_sg_op_set_param(op, "axis", &number), -1);
	modser_graph_destroy(g);
}

Test(graph_ir, attributes_are_added_once)
{
	modser_graph *g = modser_graph_create("g");
	const int64_t list[] = {3, 1};
	const modser_sg_attr value = {
		.kind = MODSER_ATTR_INTS, .n = 2, .as.ints = list};

	cr_assert_eq(modser_graph_add_attr(g, "order", &value), 0);
	cr_assert_eq(modser_graph_add_attr(g, "order", &value), -1);
	cr_assert_eq(modser_graph_attr(g, "order")->as.ints[0], 3);
	cr_assert_null(modser_graph_attr(g, "other"));
	modser_graph_destroy(g);
}

Test(graph_ir, facts_are_empty_until_they_are_set)
{
	modser_graph *g = modser_graph_create("g");

	cr_assert_str_eq(modser_graph_text(g, MODSER_GRAPH_VERSION), "");
	cr_assert_eq(modser_graph_set_identity(g, "a.b", "net", "1.0"), 0);
	cr_assert_eq(modser_graph_set_source(g, "net.tmfile"), 0);
	cr_assert_eq(modser_graph_set_source_format(g, "tengine"), 0);
	cr_assert_eq(modser_graph_set_const_file(g, "net.bin"), 0);
	cr_assert_eq(modser_graph_set_internal_name(g, "h"), 0);
	cr_assert_str_eq(modser_graph_text(g, MODSER_GRAPH_NAME), "h");
	cr_assert_str_eq(modser_graph_text(g, MODSER_GRAPH_VERSION), "1.0");
	cr_assert_str_eq(modser_graph_text(g, MODSER_GRAPH_CONST_FILE), "net.bin");
	modser_graph_destroy(g);
}

Test(graph_ir, extents_may_be_unknown_and_named)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *t = modser_sg_tensor_create(g, "x");
	const int64_t dims[] = {-1, 3};
	const int64_t bad[] = {-2};
	int64_t many[MODSER_GRAPH_MAX_NDIM + 1] = {0};

	cr_assert_eq(modser_sg_tensor_ndim(t), -1);
	cr_assert_eq(modser_sg_tensor_set_dims(t, dims, 2), 0);
	cr_assert_eq(modser_sg_tensor_set_dim_name(t, 0, "batch"), 0);
	cr_assert_eq(modser_sg_tensor_set_dim_name(t, 2, "none"), -1);
	cr_assert_str_eq(modser_sg_tensor_dim_name(t, 0), "batch");
	cr_assert_eq(modser_sg_tensor_set_dims(t, bad, 1), -1);
	cr_assert_eq(modser_sg_tensor_set_dims(t, many, MODSER_GRAPH_MAX_NDIM + 1), -1);
	cr_assert_eq(modser_sg_tensor_dims(t)[1], 3);
	modser_graph_destroy(g);
}

static int n_released;

static void release(void *buffer)
{
	n_released++;
	free(buffer);
}

Test(graph_ir, buffers_are_released_when_the_graph_is_done)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *t = modser_sg_tensor_create_const(g, "w");
	modser_sg_tensor *x = modser_sg_tensor_create(g, "x");
	uint64_t bytes;

	cr_assert_eq(modser_sg_tensor_set_size(t, 4), 0);
	cr_assert_eq(modser_sg_tensor_set_buffer(t, malloc(4), release), 0);
	cr_assert_eq(modser_sg_tensor_set_buffer(t, malloc(4), release), 0);
	cr_assert_eq(n_released, 1);
	cr_assert_not_null(modser_sg_tensor_data(t, &bytes));
	cr_assert_eq(bytes, 4);
	cr_assert_eq(modser_sg_tensor_set_buffer(x, NULL, NULL), -1);
	modser_graph_destroy(g);
	cr_assert_eq(n_released, 2);
}

Test(graph_ir, the_dump_says_all_of_a_graph)
{
	modser_graph *g = net_create();
	char *text;

	cr_assert_eq(modser_graph_dump(g, &text), 0);
	cr_assert_str_eq(
		text,
		"graph \"net\"\n"
		"inputs (0)\n"
		"outputs (2)\n"
		"node 0 \"x\" InputOp{} () -> (0)\n"
		"node 1 \"w\" Const{} () -> (1)\n"
		"node 2 \"fc\" FullyConnected{num_output=2} (0, 1) -> (2)\n"
		"tensor 0 \"x\" input float32[1, 3]\n"
		"tensor 1 \"w\" const float32[2, 3] bytes 24 fnv 6cde4c1e373a7278\n"
		"tensor 2 \"y\" var float32[...]\n");
	free(text);
	modser_graph_destroy(g);
}

/* What to do with the second of two equal graphs. */
typedef void change_fn(modser_graph *g);

static void rename_graph(modser_graph *g)
{
	(void)modser_graph_set_internal_name(g, "other");
}

static void change_param(modser_graph *g)
{
	(void)modser_sg_op_set_int(modser_sg_node_op(modser_graph_node(g, 2)),
				   "num_output", 3);
}

static void change_constant(modser_graph *g)
{
	static const float other[6];

	(void)modser_sg_tensor_set_buffer(modser_graph_tensor(g, 1), other, NULL);
}

static void change_shape(modser_graph *g)
{
	const int64_t dims[] = {2, 2};

	(void)modser_sg_tensor_set_dims(modser_graph_tensor(g, 0), dims, 2);
}

static bool equal_after(change_fn *change)
{
	modser_graph *a = net_create();
	modser_graph *b = net_create();

	change(b);
	bool is_equal = modser_graph_equal(a, b);
	modser_graph_destroy(a);
	modser_graph_destroy(b);
	return is_equal;
}

Test(graph_ir, equal_means_all_but_the_source)
{
	cr_expect(equal_after(rename_graph));
	cr_expect_not(equal_after(change_param));
	cr_expect_not(equal_after(change_constant));
	cr_expect_not(equal_after(change_shape));
}

Test(graph_ir, graphs_within_graphs_have_a_bound)
{
	modser_graph *outer = modser_graph_create("0");
	unsigned depth = 0;

	for (;;) {
		modser_graph *g = modser_graph_create("g");
		const modser_sg_attr value = {.kind = MODSER_ATTR_GRAPH,
					      .as.graph = outer};

		if (modser_graph_add_attr(g, "body", &value) != 0) {
			modser_graph_destroy(g);
			break;
		}
		outer = g;
		depth++;
	}
	cr_assert_eq(depth, MODSER_GRAPH_MAX_DEPTH);
	modser_graph_destroy(outer);
}

Test(graph_ir, a_graph_is_no_attribute_of_itself)
{
	modser_graph *g = modser_graph_create("g");
	const modser_sg_attr value = {.kind = MODSER_ATTR_GRAPH, .as.graph = g};

	cr_assert_eq(modser_graph_add_attr(g, "body", &value), -1);
	modser_graph_destroy(g);
}

Test(graph_ir, an_operator_is_registered_once)
{
	static const modser_sg_op_schema mine = {
		.size = sizeof(mine), .name = "MyOp", .max_in = 1, .max_out = 1};
	static const modser_sg_op_schema taken = {.size = sizeof(taken),
						  .name = "Convolution"};
	modser_graph *g = modser_graph_create("g");

	cr_assert_null(modser_sg_op_create(g, "MyOp"));
	cr_assert_eq(modser_sg_op_register(&mine), 0);
	cr_assert_eq(modser_sg_op_register(&mine), -1);
	cr_assert_eq(modser_sg_op_register(&taken), -1);
	cr_assert_not_null(modser_sg_op_create(g, "MyOp"));
	modser_graph_destroy(g);
}

Test(graph_ir, names_are_utf_8)
{
	modser_graph *g = modser_graph_create("");

	cr_expect_null(modser_sg_tensor_create(g, "co\xe6v"));
	cr_expect_str_eq(modser_graph_error(g), "tensor 0: its name is not UTF-8");
	cr_expect_null(modser_sg_node_create(g, "\xff"));
	cr_expect_str_eq(modser_graph_error(g), "node 0: its name is not UTF-8");
	modser_sg_tensor *t = modser_sg_tensor_create(g, "größe");
	cr_assert_not_null(t);
	cr_expect_eq(modser_sg_tensor_set_dims(t, (const int64_t[]){-1}, 1), 0);
	cr_expect_eq(modser_sg_tensor_set_dim_name(t, 0, "\xc3"), -1);
	cr_expect_str_eq(modser_graph_error(g),
			 "tensor 0 \"größe\": a dimension's name is not UTF-8");
	modser_graph_destroy(g);
}

Test(graph_ir, an_operator_of_another_graph_is_refused)
{
	modser_graph *a = net_create();
	modser_graph *b = net_create();
	modser_sg_node *node = modser_sg_node_create(a, "n");

	cr_expect_eq(modser_sg_node_set_op(node, modser_sg_op_create(b, "ReLu")), -1);
	cr_expect_str_eq(modser_graph_error(a),
			 "node 3 \"n\": operator ReLu is another graph's");
	cr_expect_null(modser_sg_node_op(node));
	modser_graph_destroy(b);
	modser_graph_destroy(a);
}

Test(graph_ir, an_operator_is_one_nodes)
{
	modser_graph *g = net_create();
	modser_sg_op *op = modser_sg_node_op(modser_graph_node(g, 2));
	modser_sg_node *node = modser_sg_node_create(g, "n");

	cr_expect_eq(modser_sg_node_set_op(node, op), -1);
	cr_expect_str_eq(modser_graph_error(g),
			 "node 3 \"n\": operator FullyConnected is "
			 "that of node 2 \"fc\" already");
	cr_expect_eq(modser_sg_node_set_op(modser_graph_node(g, 2), op), 0); /* again */
	cr_expect_eq(modser_sg_node_set_op(modser_graph_node(g, 2), NULL), 0);
	cr_expect_eq(modser_sg_node_set_op(node, op), 0); /* it is free */
	modser_graph_destroy(g);
}
