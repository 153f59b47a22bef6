/* A sound graph is broken in one place each time, and the check names that place. */
#include <criterion/criterion.h>

#include "tests/graph/net.h"

static modser_graph *g;

static void begin(void)
{
	g = net_create();
}

static void end(void)
{
	modser_graph_destroy(g);
}

TestSuite(graph_check, .init = begin, .fini = end, .timeout = 60);

static void expect_fault(const char *text)
{
	cr_expect_eq(modser_graph_check(g), -1, "expected: %s", text);
	cr_expect_str_eq(modser_graph_error(g), text);
	cr_expect_str_eq(modser_graph_error_name(g), "BAD_ARTIFACT");
}

Test(graph_check, accepts_a_sound_graph)
{
	cr_assert_eq(modser_graph_check(g), 0, "%s", modser_graph_error(g));
	cr_assert_str_eq(modser_graph_error(g), "");
}

Test(graph_check, names_a_node_without_an_operator)
{
	(void)modser_sg_node_set_op(modser_graph_node(g, 2), NULL);
	expect_fault("node 2 \"fc\": it has no operator");
}

Test(graph_check, names_a_node_with_too_few_inputs)
{
	modser_sg_node *node =
		net_node(g, "relu", "ReLu", modser_sg_tensor_create(g, "z"));

	(void)node;
	expect_fault("node 3 \"relu\", ReLu: it has 0 inputs, expected 1");
}

Test(graph_check, names_a_node_with_too_many_inputs)
{
	for (int i = 0; i < 2; i++) {
		(void)modser_sg_node_add_input(modser_graph_node(g, 2),
					       modser_graph_tensor(g, 1));
	}
	expect_fault(
		"node 2 \"fc\", FullyConnected: it has 4 inputs, expected at most 3");
}

Test(graph_check, names_an_input_that_is_missing)
{
	modser_sg_node *node =
		net_node(g, "relu", "ReLu", modser_sg_tensor_create(g, "z"));

	(void)modser_sg_node_add_input(node, NULL);
	expect_fault("node 3 \"relu\", ReLu: an input that it needs is missing");
}

/* The passes and kernels of an operator with one output do not ask for it. */
Test(graph_check, names_an_output_that_is_missing)
{
	modser_sg_node *node = net_node(g, "relu", "ReLu", NULL);

	(void)modser_sg_node_add_input(node, modser_graph_tensor(g, 0));
	expect_fault("node 3 \"relu\", ReLu: an output that it must have is missing");
}

Test(graph_check, names_a_tensor_that_nobody_produces)
{
	(void)modser_sg_tensor_create(g, "lost");
	expect_fault("tensor 3 \"lost\": no node produces it");
}

Test(graph_check, names_a_tensor_that_two_produce)
{
	modser_sg_node *node = net_node(g, "relu", "ReLu", modser_graph_tensor(g, 2));

	(void)modser_sg_node_add_input(node, modser_graph_tensor(g, 0));
	expect_fault("tensor 2 \"y\": two nodes produce it");
}

Test(graph_check, names_a_tensor_that_a_node_produces_twice)
{
	modser_sg_node *node =
		net_node(g, "slice", "Slice", modser_sg_tensor_create(g, "z"));

	(void)modser_sg_node_add_output(node, modser_graph_tensor(g, 3));
	(void)modser_sg_node_add_input(node, modser_graph_tensor(g, 0));
	expect_fault("tensor 3 \"z\": a node produces it twice");
}

Test(graph_check, names_a_node_on_a_circle)
{
	modser_sg_tensor *a = modser_sg_tensor_create(g, "a");
	modser_sg_tensor *b = modser_sg_tensor_create(g, "b");

	(void)modser_sg_node_add_input(net_node(g, "one", "ReLu", a), b);
	(void)modser_sg_node_add_input(net_node(g, "two", "ReLu", b), a);
	expect_fault("node 4 \"two\": its input depends on its own output");
}

Test(graph_check, names_a_constant_without_its_bytes)
{
	(void)modser_sg_tensor_set_buffer(modser_graph_tensor(g, 1), NULL, NULL);
	expect_fault("tensor 1 \"w\": a constant whose bytes are missing");
}

Test(graph_check, a_constant_may_stay_in_its_file)
{
	(void)modser_sg_tensor_set_buffer(modser_graph_tensor(g, 1), NULL, NULL);
	(void)modser_sg_tensor_set_location(modser_graph_tensor(g, 1), 64, 24);
	cr_assert_eq(modser_graph_check(g), 0, "%s", modser_graph_error(g));
}

Test(graph_check, names_a_constant_of_the_wrong_size)
{
	const int64_t dims[] = {2, 4};

	(void)modser_sg_tensor_set_dims(modser_graph_tensor(g, 1), dims, 2);
	expect_fault("tensor 1 \"w\": it has 24 bytes, and its shape 32");
}

Test(graph_check, names_a_constant_whose_shape_overflows)
{
	const int64_t dims[] = {INT64_MAX, INT64_MAX};

	modser_sg_tensor *w = modser_graph_tensor(g, 1);
	cr_assert_eq(modser_sg_tensor_set_dims(w, dims, 2), -1);
	cr_assert_str_eq(modser_graph_error(g),
			 "tensor 1 \"w\": its extents make too many elements");
	/* The elements fit, and their bytes do not. */
	cr_assert_eq(modser_sg_tensor_set_dims(w, dims, 1), 0);
	expect_fault("tensor 1 \"w\": a constant without a known shape, or too large");
}

Test(graph_check, names_a_constant_that_is_computed)
{
	modser_sg_node *node =
		net_node(g, "relu", "ReLu", modser_sg_tensor_create_const(g, "z"));

	(void)modser_sg_node_add_input(node, modser_graph_tensor(g, 0));
	expect_fault("tensor 3 \"z\": a constant that a node computes");
}

Test(graph_check, names_an_input_that_is_computed)
{
	(void)modser_graph_add_input(g, modser_graph_tensor(g, 2));
	expect_fault("tensor 2 \"y\": an input that a node computes");
}

Test(graph_check, names_an_input_that_comes_twice)
{
	(void)modser_graph_add_input(g, modser_graph_tensor(g, 0));
	expect_fault("tensor 0 \"x\": it is an input twice");
}

Test(graph_check, wants_an_output)
{
	modser_graph *empty = modser_graph_create("empty");

	cr_assert_eq(modser_graph_check(empty), -1);
	cr_assert_str_eq(modser_graph_error(empty), "the graph has no output");
	modser_graph_destroy(empty);
}

Test(graph_check, looks_into_the_graphs_of_attributes)
{
	modser_graph *body = modser_graph_create("body");
	const modser_sg_attr value = {.kind = MODSER_ATTR_GRAPH, .as.graph = body};

	(void)modser_sg_op_add_attr(modser_sg_node_op(modser_graph_node(g, 2)), "then",
				    &value);
	expect_fault("attribute \"then\": the graph has no output");
}

Test(graph_check, refuses_tensors_of_another_graph)
{
	modser_graph *other = net_create();

	cr_assert_eq(modser_sg_node_add_input(modser_graph_node(g, 2),
					      modser_graph_tensor(other, 0)),
		     -1);
	cr_assert_eq(modser_graph_add_output(g, modser_graph_tensor(other, 0)), -1);
	modser_graph_destroy(other);
}

Test(graph_check, names_an_input_that_nobody_brings)
{
	modser_sg_tensor *z = modser_sg_tensor_create(g, "z");

	(void)modser_sg_tensor_set_type(z, MODSER_TENSOR_INPUT);
	(void)net_node(g, "z", "InputOp", z);
	cr_assert_eq(modser_graph_check(g), 0, "%s", modser_graph_error(g));
	(void)modser_sg_node_add_input(
		net_node(g, "relu", "ReLu", modser_sg_tensor_create(g, "r")), z);
	expect_fault("tensor 3 \"z\": an input that the graph does not have among its "
		     "inputs");
}
