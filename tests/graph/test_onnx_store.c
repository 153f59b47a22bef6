/* Graphs that are stored as ONNX files. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/op/flow/flow.h"
#include "tests/artifact/fixture.h"
#include "tests/graph/net.h"
#include "tests/graph/onnx_file.h"
#include "tests/support/fail_alloc.h"

TestSuite(onnx_store, .init = begin, .fini = end, .timeout = 120);

/* The graph of @file as a file; its bytes are freed by the caller. */
static modser_part store(struct msd_span file)
{
	modser_part part = {0};
	int result;
	modser_graph *g = load(file, &result);

	cr_assert_eq(result, 0, "%s", modser_graph_error(g));
	cr_assert_eq(modser_serializer_store_memory(onnx, g, &part, 1), 0, "%s",
		     modser_graph_error(g));
	modser_graph_destroy(g);
	return part;
}

static void expect_same_again(const char *name)
{
	struct bw file = fixture_read(name);
	const modser_part once = store(bw_span(&file));
	const modser_part twice = store((struct msd_span){once.data, once.bytes});

	cr_expect_eq(once.bytes, twice.bytes, "%s", name);
	cr_expect(once.bytes == twice.bytes &&
			  memcmp(once.data, twice.data, once.bytes) == 0,
		  "%s", name);
	free((void *)(uintptr_t)once.data);
	free((void *)(uintptr_t)twice.data);
	bw_free(&file);
}

Test(onnx_store, what_was_stored_is_stored_the_same_again)
{
	expect_same_again(CORPUS "accept_gemm.bin");
	expect_same_again(CORPUS "accept_conv.bin");
	expect_same_again(CORPUS "accept_slice_of_opset_9.bin");
	expect_same_again(CORPUS "accept_left_out_input.bin");
	expect_same_again(CORPUS "accept_open_extents.bin");
	expect_same_again(CORPUS "accept_broadcast_of_opset_6.bin");
	expect_same_again(CORPUS "accept_if.bin");
	expect_same_again(CORPUS "accept_loop_with_an_if.bin");
	expect_same_again(CORPUS "accept_loop_without_a_shape.bin");
	expect_same_again(CORPUS "accept_scan.bin");
}

static bool has_sizes(const modser_graph *g)
{
	for (size_t i = 0; i < modser_graph_node_count(g); i++) {
		const modser_sg_node *node = modser_graph_node(g, i);

		if (strcmp(modser_sg_op_name(modser_sg_node_op(node)), "Split") == 0)
			return modser_sg_node_input_count(node) == 2;
	}
	return false;
}

Test(onnx_store, pieces_that_are_not_alike_are_stored_with_their_extents)
{
	struct bw file = fixture_read(CORPUS "accept_uneven_split.bin");
	const modser_part stored = store(bw_span(&file));
	int result;
	modser_graph *g = load((struct msd_span){stored.data, stored.bytes}, &result);

	cr_assert_eq(result, 0, "%s", modser_graph_error(g));
	cr_expect(has_sizes(g));
	modser_graph_destroy(g);
	free((void *)(uintptr_t)stored.data);
	bw_free(&file);
}

/* More than are looked at in inference; the last is larger. */
Test(onnx_store, many_pieces_are_stored_with_their_extents)
{
	enum { N = 65 };
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = modser_sg_tensor_create(g, "x");
	modser_sg_node *split = modser_sg_node_create(g, "s");
	modser_part part = {0};
	int result;

	(void)modser_sg_tensor_set_type(x, MODSER_TENSOR_INPUT);
	(void)net_node(g, "x", "InputOp", x);
	(void)modser_graph_add_input(g, x);
	(void)modser_sg_node_set_op(split, modser_sg_op_create(g, "Split"));
	(void)modser_sg_node_add_input(split, x);
	for (int64_t i = 0; i < N; i++) {
		const int64_t extent = i + 1 < N ? 1 : 2;
		char name[8];

		(void)snprintf(name, sizeof(name), "y%d", (int)i);
		modser_sg_tensor *y = modser_sg_tensor_create(g, name);
		(void)modser_sg_tensor_set_dims(y, &extent, 1);
		(void)modser_sg_node_add_output(split, y);
		(void)modser_graph_add_output(g, y);
	}
	cr_assert_eq(modser_serializer_store_memory(onnx, g, &part, 1), 0, "%s",
		     modser_graph_error(g));
	modser_graph *again = load((struct msd_span){part.data, part.bytes}, &result);
	cr_assert_eq(result, 0, "%s", modser_graph_error(again));
	cr_expect(has_sizes(again));
	modser_graph_destroy(again);
	modser_graph_destroy(g);
	free((void *)(uintptr_t)part.data);
}

Test(onnx_store, a_state_without_a_shape_is_stored_with_its_elements)
{
	struct bw file = fixture_read(CORPUS "accept_loop_without_a_shape.bin");
	const modser_part stored = store(bw_span(&file));
	int result;
	modser_graph *g = load((struct msd_span){stored.data, stored.bytes}, &result);
	const modser_graph *body = msd_flow_graph(g->outputs[0]->producer, 0);

	cr_expect_str_eq(modser_sg_tensor_dtype(modser_graph_input(body, 2)), "int64");
	modser_graph_destroy(g);
	free((void *)(uintptr_t)stored.data);
	bw_free(&file);
}

Test(onnx_store, what_onnx_does_not_have_is_not_stored)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = modser_sg_tensor_create(g, "x");
	modser_sg_tensor *y = modser_sg_tensor_create(g, "y");
	modser_part part = {0};

	(void)modser_sg_tensor_set_type(x, MODSER_TENSOR_INPUT);
	(void)net_node(g, "x", "InputOp", x);
	(void)modser_sg_node_add_input(net_node(g, "n", "Reorg", y), x);
	(void)modser_graph_add_input(g, x);
	(void)modser_graph_add_output(g, y);
	cr_assert_eq(modser_serializer_store_memory(onnx, g, &part, 1), -1);
	cr_assert_str_eq(modser_graph_error(g),
			 "node 1 \"n\", Reorg: ONNX of opset 17 has no such operator");
	modser_graph_destroy(g);
}

/* Store op(a, b) of equal shapes as @format; returns the result of the store. */
static int store_pair(const char *op, const char *format)
{
	static const int64_t dims[] = {2, 3};
	modser_graph *g = modser_graph_create("pair");
	modser_sg_node *node = modser_sg_node_create(g, "n");
	modser_sg_tensor *y = modser_sg_tensor_create(g, "y");
	modser_serializer *s = modser_serializer_get(format);
	modser_part part = {0};

	cr_assert_eq(modser_sg_node_set_op(node, modser_sg_op_create(g, op)), 0);
	for (int i = 0; i < 2; i++) {
		modser_sg_tensor *x = modser_graph_create_input(g, i == 0 ? "a" : "b",
								"float32", dims, 2);

		cr_assert_eq(modser_sg_node_add_input(node, x), i);
	}
	cr_assert_eq(modser_sg_node_add_output(node, y), 0);
	cr_assert_eq(modser_graph_add_output(g, y), 0);
	const int result = modser_serializer_store_memory(s, g, &part, 1);
	free((void *)(uintptr_t)part.data);
	modser_serializer_unref(s);
	modser_graph_destroy(g);
	return result;
}

Test(onnx_store, arithmetic_of_two_tensors_is_stored_by_both_formats)
{
	static const char *const ops[] = {"Add",  "Sub",     "Mul",     "Div",    "Pow",
					  "Addn", "Maximum", "Minimum", "Eltwise"};

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		cr_expect_eq(store_pair(ops[i], "onnx"), 0, "%s", ops[i]);
		cr_expect_eq(store_pair(ops[i], "tengine"), 0, "%s", ops[i]);
	}
	cr_expect_eq(store_pair("BroadMul", "onnx"), -1);
	cr_expect_eq(store_pair("BroadMul", "tengine"), 0);
}

/* Shapes that are not known need not be: that their error has no memory for its text
 * ends no store. */
static void expect_whole_or_reported(modser_graph *g)
{
	bool failed = true;
	unsigned n_reported = 0;

	for (long k = 0; failed; k++) {
		modser_part part = {0};

		msd_fail_alloc(k);
		const int result = modser_serializer_store_memory(onnx, g, &part, 1);
		failed = msd_fail_alloc_stop();
		cr_assert(result == 0 ? part.data != NULL : failed,
			  "allocation %ld: %s", k, modser_graph_error(g));
		n_reported += result != 0;
		free((void *)(uintptr_t)part.data);
	}
	cr_assert_gt(n_reported, 20);
}

static void expect_file_whole_or_reported(const char *path)
{
	struct bw file = fixture_read(path);
	int result;
	modser_graph *g = load(bw_span(&file), &result);

	cr_assert_eq(result, 0);
	expect_whole_or_reported(g);
	modser_graph_destroy(g);
	bw_free(&file);
}

Test(onnx_store, every_failing_allocation_of_a_store_is_reported)
{
	expect_file_whole_or_reported(CORPUS "accept_slice_of_opset_9.bin");
	expect_file_whole_or_reported(CORPUS "accept_loop_with_an_if.bin");
}

/* A node that reshapes the slopes is written before the one that uses them. */
Test(onnx_store, every_failing_allocation_of_a_store_of_slopes_is_reported)
{
	modser_graph *g = net_create();
	modser_sg_node *node = modser_graph_node(g, 2);
	modser_sg_tensor *x = modser_sg_node_input(node, 0);
	modser_sg_tensor *slopes = modser_sg_node_input(node, 1);

	(void)modser_sg_tensor_set_dims(x, (const int64_t[]){1, 6}, 2);
	(void)modser_sg_tensor_set_dims(slopes, (const int64_t[]){6}, 1);
	(void)modser_sg_node_set_op(node, modser_sg_op_create(g, "PReLU"));
	expect_whole_or_reported(g);
	modser_graph_destroy(g);
}
