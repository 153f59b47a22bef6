/* What opset 17 does not take, or counts in another way, as it is stored. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/modser_graph.h"
#include "tests/graph/net.h"
#include "tests/support/fail_alloc.h"

static modser_serializer *onnx;

static void begin(void)
{
	onnx = modser_serializer_get("onnx");
}

static void end(void)
{
	modser_serializer_unref(onnx);
}

TestSuite(onnx_elements, .init = begin, .fini = end, .timeout = 120);

/* A graph of node "n" of @op; its inputs are the graph's. */
static modser_sg_node *node_of(const char *op)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *y = modser_sg_tensor_create(g, "y");
	modser_sg_node *node = net_node(g, "n", op, y);

	(void)modser_graph_add_output(g, y);
	return node;
}

static void add_input(modser_sg_node *node, const char *dtype, const int64_t *dims,
		      size_t ndim)
{
	modser_graph *g = node->graph;
	modser_sg_tensor *x = modser_sg_tensor_create(g, "x");

	(void)modser_sg_tensor_set_type(x, MODSER_TENSOR_INPUT);
	(void)modser_sg_tensor_set_dtype(x, dtype);
	(void)modser_sg_tensor_set_dims(x, dims, ndim);
	(void)net_node(g, "x", "InputOp", x);
	(void)modser_graph_add_input(g, x);
	(void)modser_sg_node_add_input(node, x);
}

static modser_sg_node *node_of_types(const char *op, const char *const *dtypes)
{
	static const int64_t many[] = {2, 2};
	modser_sg_node *node = node_of(op);

	for (size_t i = 0; dtypes[i] != NULL; i++)
		add_input(node, dtypes[i], many, i == 0 ? 2 : 0);
	return node;
}

static void expect_refused(modser_sg_node *node, const char *text)
{
	modser_part part = {0};

	cr_assert_eq(modser_serializer_store_memory(onnx, node->graph, &part, 1), -1);
	cr_expect_str_eq(modser_graph_error(node->graph), text);
	modser_graph_destroy(node->graph);
}

/* The graph of @node, stored and loaded. */
static modser_graph *again(modser_sg_node *node)
{
	modser_graph *g = modser_graph_create("");
	modser_part part = {0};

	cr_assert_eq(modser_serializer_store_memory(onnx, node->graph, &part, 1), 0,
		     "%s", modser_graph_error(node->graph));
	cr_assert_eq(modser_serializer_load_memory(onnx, &part, 1, NULL, g), 0, "%s",
		     modser_graph_error(g));
	free((void *)(uintptr_t)part.data);
	modser_graph_destroy(node->graph);
	return g;
}

static const modser_sg_op *op_behind(const modser_graph *g, const char *name)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		if (strcmp(g->nodes[i]->op->schema->name, name) == 0)
			return g->nodes[i]->op;
	}
	return NULL;
}

static bool has(modser_graph *g, const char *op)
{
	const bool ret = op_behind(g, op) != NULL;

	modser_graph_destroy(g);
	return ret;
}

#define TYPES(...) ((const char *const[]){__VA_ARGS__, NULL})

Test(onnx_elements, quantized_numbers_of_16_bits_are_refused)
{
	expect_refused(
		node_of_types("QuantizeLinear", TYPES("float32", "float32", "int16")),
		"node 0 \"n\", QuantizeLinear: QuantizeLinear of opset 17 "
		"takes no int16 as its input 2; that of opset 21 does");
	expect_refused(node_of_types("DequantizeLinear", TYPES("uint16", "float32")),
		       "node 0 \"n\", DequantizeLinear: DequantizeLinear of opset 17 "
		       "takes no uint16 as its input 0; that of opset 21 does");
}

Test(onnx_elements, a_type_that_a_parameter_names_is_refused)
{
	const modser_sg_attr type = {MODSER_ATTR_STR, 0, {.s = "int16"}};
	modser_sg_node *node =
		node_of_types("QuantizeLinear", TYPES("float32", "float32"));

	cr_assert_eq(
		modser_sg_op_set_param(modser_sg_node_op(node), "output_dtype", &type),
		0);
	expect_refused(node, "node 0 \"n\", QuantizeLinear: QuantizeLinear of opset 17 "
			     "takes no int16 as its output 0; that of opset 21 does");
}

Test(onnx_elements, short_scales_are_refused)
{
	expect_refused(node_of_types("QLinearMatMul",
				     TYPES("int8", "float16", "int8", "int8", "float32",
					   "int8", "float32", "int8")),
		       "node 0 \"n\", QLinearMatMul: QLinearMatMul of opset 17 takes "
		       "no float16 as its input 1; that of opset 21 does");
	expect_refused(node_of_types("DequantizeLinear", TYPES("int8", "float16")),
		       "node 0 \"n\", DequantizeLinear: DequantizeLinear of opset 17 "
		       "takes no float16 as its input 1; that of opset 19 does");
}

Test(onnx_elements, a_parameter_of_a_later_opset_is_refused)
{
	modser_sg_node *node =
		node_of_types("QuantizeLinear", TYPES("float32", "float32", "int8"));

	(void)modser_sg_op_set_int(modser_sg_node_op(node), "block_size", 2);
	expect_refused(node, "node 0 \"n\", QuantizeLinear: ONNX of opset 17 has no "
			     "block_size");
}

/* By the name that ONNX has for it, not by ours. */
Test(onnx_elements, bfloat16_is_refused_where_it_came_late)
{
	static const int64_t dims[] = {1, 1, 4, 4};
	modser_sg_node *node = node_of("Pooling");

	add_input(node, "bfloat16", dims, 4);
	(void)modser_sg_op_set_int(modser_sg_node_op(node), "alg", 1);
	expect_refused(node, "node 0 \"n\", Pooling: AveragePool of opset 17 takes no "
			     "bfloat16 as its input 0; that of opset 22 does");
	modser_graph_destroy(again(node_of_types("Exp", TYPES("bfloat16"))));
}

Test(onnx_elements, what_opset_17_takes_is_stored)
{
	cr_expect(has(again(node_of_types("QuantizeLinear",
					  TYPES("float32", "float32", "int8"))),
		      "QuantizeLinear"));
	cr_expect(
		has(again(node_of_types("DequantizeLinear", TYPES("int32", "float32"))),
		    "DequantizeLinear"));
	cr_expect(has(again(node_of_types("Sin", TYPES("float16"))), "Sin"));
}

Test(onnx_elements, short_floats_are_asked_for_infinity_as_floats_of_32_bits)
{
	cr_expect(has(again(node_of_types("IsInf", TYPES("float16"))), "Cast"));
	cr_expect(has(again(node_of_types("IsInf", TYPES("bfloat16"))), "Cast"));
	cr_expect_not(has(again(node_of_types("IsInf", TYPES("float32"))), "Cast"));
}

Test(onnx_elements, every_failing_allocation_of_a_cast_is_reported)
{
	modser_sg_node *node = node_of_types("IsInf", TYPES("float16"));
	bool failed = true;

	for (long k = 0; failed; k++) {
		modser_part part = {0};

		msd_fail_alloc(k);
		const int result =
			modser_serializer_store_memory(onnx, node->graph, &part, 1);
		failed = msd_fail_alloc_stop();
		cr_assert(result == 0 ? part.data != NULL : failed, "allocation %ld",
			  k);
		free((void *)(uintptr_t)part.data);
	}
	modser_graph_destroy(node->graph);
}

/* Windows of 1 by 1 that go on by 2, rounded up, over @height and @width. */
static modser_sg_node *pool(int64_t height, int64_t width)
{
	const int64_t dims[] = {1, 1, height, width};
	modser_sg_node *node = node_of("Pooling");
	modser_sg_op *op = modser_sg_node_op(node);

	add_input(node, "float32", dims, 4);
	(void)modser_sg_op_set_int(op, "kernel_h", 1);
	(void)modser_sg_op_set_int(op, "kernel_w", 1);
	(void)modser_sg_op_set_int(op, "stride_h", 2);
	(void)modser_sg_op_set_int(op, "stride_w", 2);
	(void)modser_sg_op_set_int(op, "ceil_mode", 1);
	return node;
}

static int64_t ceil_mode_of(modser_graph *g, int64_t *ret_height)
{
	const int64_t mode = modser_sg_op_int(op_behind(g, "Pooling"), "ceil_mode");

	cr_assert_eq(modser_graph_infer(g), 0, "%s", modser_graph_error(g));
	*ret_height = g->outputs[0]->dims[2];
	modser_graph_destroy(g);
	return mode;
}

Test(onnx_elements, a_window_that_is_dropped_is_not_rounded_up_to)
{
	int64_t height;

	/* From 0 and 2 on; from 4 on there is nothing. */
	cr_expect_eq(ceil_mode_of(again(pool(4, 4)), &height), 0);
	cr_expect_eq(height, 2);
}

Test(onnx_elements, rounding_up_is_kept_where_no_window_is_dropped)
{
	int64_t height;
	modser_sg_node *node = pool(4, 4);

	(void)modser_sg_op_set_int(modser_sg_node_op(node), "kernel_h", 3);
	(void)modser_sg_op_set_int(modser_sg_node_op(node), "kernel_w", 3);
	cr_expect_eq(ceil_mode_of(again(node), &height), 1);
	cr_expect_eq(height, 2);
}

Test(onnx_elements, rounding_up_and_dropping_at_once_is_refused)
{
	modser_sg_node *node = pool(4, 4);

	(void)modser_sg_op_set_int(modser_sg_node_op(node), "kernel_w", 3);
	expect_refused(node, "node 0 \"n\", Pooling: opset 17 does not drop the window "
			     "in the padding behind axis 2 while axis 3 is rounded up");
}

Test(onnx_elements, open_extents_are_rounded_as_they_were)
{
	modser_graph *g = again(pool(-1, 4));

	cr_expect_eq(modser_sg_op_int(op_behind(g, "Pooling"), "ceil_mode"), 1);
	modser_graph_destroy(g);
}

/* Windows of one axis have lists: of 1 element, by @stride, over 4 elements. */
static modser_sg_node *pool_of_one_axis(int64_t stride)
{
	const int64_t dims[] = {1, 1, 4};
	const int64_t one = 1;
	const modser_sg_attr kernel = {MODSER_ATTR_INTS, 1, {.ints = &one}};
	const modser_sg_attr strides = {MODSER_ATTR_INTS, 1, {.ints = &stride}};
	modser_sg_node *node = node_of("Pooling");
	modser_sg_op *op = modser_sg_node_op(node);

	add_input(node, "float32", dims, 3);
	cr_assert_eq(modser_sg_op_set_param(op, "kernel", &kernel), 0);
	cr_assert_eq(modser_sg_op_set_param(op, "strides", &strides), 0);
	(void)modser_sg_op_set_int(op, "ceil_mode", 1);
	return node;
}

Test(onnx_elements, a_window_of_one_axis_is_dropped_alike)
{
	int64_t length;

	/* From 0 and 2 on; from 4 on there is nothing. */
	cr_expect_eq(ceil_mode_of(again(pool_of_one_axis(2)), &length), 0);
	cr_expect_eq(length, 2);
	/* From 0 and 3 on: nothing is rounded. */
	cr_expect_eq(ceil_mode_of(again(pool_of_one_axis(3)), &length), 1);
	cr_expect_eq(length, 2);
}
