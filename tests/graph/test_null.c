/* Every function of modser_graph.h with NULL for each object and text that it needs. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/graph/net.h"

#define FAILS(call) cr_expect_eq((call), -1, "%s", #call)
#define NOTHING(call) cr_expect_null((call), "%s", #call)
#define EMPTY(call) cr_expect_str_eq((call), "", "%s", #call)
#define ZERO(call) cr_expect((call) == 0, "%s", #call)

static modser_graph *g;
static modser_sg_node *node;
static modser_sg_op *op;
static modser_sg_tensor *x;
static modser_serializer *s;

static void begin(void)
{
	g = net_create();
	node = modser_graph_node(g, 2);
	op = modser_sg_node_op(node);
	x = modser_graph_tensor(g, 0);
	s = modser_serializer_get("onnx");
}

static void end(void)
{
	modser_graph_destroy(g);
	modser_serializer_unref(s);
}

TestSuite(null, .init = begin, .fini = end);

Test(null, is_no_graph)
{
	const modser_sg_attr one = {.kind = MODSER_ATTR_INT};
	char *text = NULL;

	cr_expect_str_neq(modser_graph_error(NULL), "");
	cr_expect_str_eq(modser_graph_error_name(NULL), "BAD_ARGUMENT");
	FAILS(modser_graph_fail(NULL, "why"));
	EMPTY(modser_graph_text(NULL, MODSER_GRAPH_NAME));
	FAILS(modser_graph_set_internal_name(NULL, "a"));
	FAILS(modser_graph_set_identity(NULL, "a", "b", "c"));
	FAILS(modser_graph_set_source(NULL, "a"));
	FAILS(modser_graph_set_source_format(NULL, "a"));
	FAILS(modser_graph_set_const_file(NULL, "a"));
	FAILS(modser_graph_add_attr(NULL, "a", &one));
	NOTHING(modser_graph_attr(NULL, "a"));
	FAILS(modser_graph_add_input(NULL, x));
	FAILS(modser_graph_add_output(NULL, x));
	ZERO(modser_graph_node_count(NULL));
	ZERO(modser_graph_tensor_count(NULL));
	ZERO(modser_graph_input_count(NULL));
	ZERO(modser_graph_output_count(NULL));
	NOTHING(modser_graph_node(NULL, 0));
	NOTHING(modser_graph_tensor(NULL, 0));
	NOTHING(modser_graph_input(NULL, 0));
	NOTHING(modser_graph_output(NULL, 0));
	FAILS(modser_graph_check(NULL));
	FAILS(modser_graph_infer(NULL));
	FAILS(modser_graph_fix_inputs(NULL, "x=float32[1]"));
	FAILS(modser_graph_dump(NULL, &text));
	cr_expect_not(modser_graph_equal(NULL, g));
	cr_expect_not(modser_graph_equal(g, NULL));
	modser_graph_set_beside(NULL, NULL, NULL);
	modser_graph_destroy(NULL);
	NOTHING(modser_sg_node_create(NULL, "n"));
	NOTHING(modser_sg_op_create(NULL, "ReLu"));
	NOTHING(modser_sg_tensor_create(NULL, "t"));
	NOTHING(modser_sg_tensor_create_const(NULL, "t"));
}

Test(null, is_no_text_or_object_of_a_graph)
{
	const modser_sg_attr one = {.kind = MODSER_ATTR_INT};

	NOTHING(modser_graph_create(NULL));
	FAILS(modser_graph_fail(g, NULL));
	FAILS(modser_graph_set_internal_name(g, NULL));
	FAILS(modser_graph_set_identity(g, NULL, "b", "c"));
	FAILS(modser_graph_set_identity(g, "a", NULL, "c"));
	FAILS(modser_graph_set_identity(g, "a", "b", NULL));
	FAILS(modser_graph_set_source(g, NULL));
	FAILS(modser_graph_set_source_format(g, NULL));
	FAILS(modser_graph_set_const_file(g, NULL));
	FAILS(modser_graph_add_attr(g, NULL, &one));
	FAILS(modser_graph_add_attr(g, "a", NULL));
	NOTHING(modser_graph_attr(g, NULL));
	FAILS(modser_graph_add_input(g, NULL));
	FAILS(modser_graph_add_output(g, NULL));
	FAILS(modser_graph_fix_inputs(g, NULL));
	FAILS(modser_graph_dump(g, NULL));
	NOTHING(modser_sg_node_create(g, NULL));
	NOTHING(modser_sg_op_create(g, NULL));
	NOTHING(modser_sg_tensor_create(g, NULL));
	NOTHING(modser_sg_tensor_create_const(g, NULL));
	cr_expect_str_eq(modser_graph_error(g), "the name of a tensor is NULL");
	cr_expect_str_eq(modser_graph_error_name(g), "BAD_ARGUMENT");
}

Test(null, is_no_node)
{
	FAILS(modser_sg_node_set_op(NULL, op));
	FAILS(modser_sg_node_add_input(NULL, x));
	FAILS(modser_sg_node_add_output(NULL, x));
	EMPTY(modser_sg_node_name(NULL));
	NOTHING(modser_sg_node_graph(NULL));
	ZERO(modser_sg_node_index(NULL));
	NOTHING(modser_sg_node_op(NULL));
	ZERO(modser_sg_node_input_count(NULL));
	ZERO(modser_sg_node_output_count(NULL));
	NOTHING(modser_sg_node_input(NULL, 0));
	NOTHING(modser_sg_node_output(NULL, 0));
	cr_expect_geq(modser_sg_node_add_input(node, NULL),
		      0); /* one that is left out */
}

Test(null, is_no_operator_parameter_or_value)
{
	const modser_sg_attr one = {.kind = MODSER_ATTR_INT};
	const modser_sg_attr hollow[] = {{.kind = MODSER_ATTR_STR},
					 {.kind = MODSER_ATTR_INTS, .n = 1},
					 {.kind = MODSER_ATTR_FLOATS, .n = 1},
					 {.kind = MODSER_ATTR_GRAPH}};

	FAILS(modser_sg_op_set_param(NULL, "num_output", &one));
	FAILS(modser_sg_op_set_param(op, NULL, &one));
	FAILS(modser_sg_op_set_param(op, "num_output", NULL));
	FAILS(modser_sg_op_set_int(NULL, "num_output", 1));
	FAILS(modser_sg_op_set_int(op, NULL, 1));
	FAILS(modser_sg_op_add_attr(NULL, "a", &one));
	FAILS(modser_sg_op_add_attr(op, NULL, &one));
	FAILS(modser_sg_op_add_attr(op, "a", NULL));
	for (size_t i = 0; i < sizeof(hollow) / sizeof(hollow[0]); i++) {
		FAILS(modser_sg_op_add_attr(op, "a", &hollow[i]));
		FAILS(modser_graph_add_attr(g, "a", &hollow[i]));
	}
	EMPTY(modser_sg_op_name(NULL));
	NOTHING(modser_sg_op_param(NULL, "num_output"));
	NOTHING(modser_sg_op_param(op, NULL));
	NOTHING(modser_sg_op_attr(NULL, "a"));
	NOTHING(modser_sg_op_attr(op, NULL));
	ZERO(modser_sg_op_int(NULL, "num_output"));
	ZERO(modser_sg_op_int(op, NULL));
	ZERO(modser_sg_op_float(NULL, "num_output"));
	ZERO(modser_sg_op_float(op, NULL));
	NOTHING(modser_sg_op_schema_find(NULL));
	NOTHING(modser_sg_op_default(NULL, "axis"));
	NOTHING(modser_sg_op_default("Softmax", NULL));
}

Test(null, is_no_tensor)
{
	const int64_t dims[] = {1};
	uint64_t bytes;

	FAILS(modser_sg_tensor_set_dims(NULL, dims, 1));
	FAILS(modser_sg_tensor_set_dims(x, NULL, 1));
	FAILS(modser_sg_tensor_set_dim_name(NULL, 0, "n"));
	FAILS(modser_sg_tensor_set_dim_name(x, 0, NULL));
	FAILS(modser_sg_tensor_set_dtype(NULL, "int8"));
	FAILS(modser_sg_tensor_set_dtype(x, NULL));
	FAILS(modser_sg_tensor_set_layout(NULL, "NCHW"));
	FAILS(modser_sg_tensor_set_layout(x, NULL));
	FAILS(modser_sg_tensor_set_type(NULL, MODSER_TENSOR_VAR));
	FAILS(modser_sg_tensor_set_size(NULL, 1));
	FAILS(modser_sg_tensor_add_quant(NULL, 1, 0));
	FAILS(modser_sg_tensor_set_buffer(NULL, dims, NULL));
	FAILS(modser_sg_tensor_set_location(NULL, 0, 1));
	EMPTY(modser_sg_tensor_name(NULL));
	ZERO(modser_sg_tensor_index(NULL));
	cr_expect_eq(modser_sg_tensor_type_of(NULL), MODSER_TENSOR_TYPE_COUNT);
	EMPTY(modser_sg_tensor_dtype(NULL));
	FAILS(modser_sg_tensor_ndim(NULL));
	NOTHING(modser_sg_tensor_dims(NULL));
	EMPTY(modser_sg_tensor_dim_name(NULL, 0));
	NOTHING(modser_sg_tensor_data(NULL, &bytes));
	NOTHING(modser_sg_tensor_data(x, NULL));
}

static int read_none(void *ctx, modser_graph *graph, const char *name, modser_part *ret)
{
	(void)ctx;
	(void)name;
	(void)ret;
	return modser_graph_fail(graph, "none");
}

Test(null, is_no_serializer_or_file)
{
	const char *const paths[] = {NULL};
	const modser_part hollow = {NULL, 8};
	modser_part part = {"", 0};
	modser_part other;
	modser_graph *to = modser_graph_create("");

	ZERO(modser_serializer_file_count(NULL));
	EMPTY(modser_serializer_format(NULL));
	EMPTY(modser_serializer_name(NULL));
	EMPTY(modser_serializer_version(NULL));
	cr_expect_not(modser_serializer_can_store(NULL));
	FAILS(modser_serializer_load_files(NULL, paths, 1, NULL, to));
	FAILS(modser_serializer_load_files(s, NULL, 1, NULL, to));
	FAILS(modser_serializer_load_files(s, paths, 1, NULL, to));
	FAILS(modser_serializer_load_files(s, paths, 1, NULL, NULL));
	FAILS(modser_serializer_load_memory(NULL, &part, 1, NULL, to));
	FAILS(modser_serializer_load_memory(s, NULL, 1, NULL, to));
	FAILS(modser_serializer_load_memory(s, &hollow, 1, NULL, to));
	FAILS(modser_serializer_load_memory(s, &part, 1, NULL, NULL));
	FAILS(modser_serializer_join(NULL, &part, read_none, NULL, to, &other));
	FAILS(modser_serializer_join(s, NULL, read_none, NULL, to, &other));
	FAILS(modser_serializer_join(s, &part, NULL, NULL, to, &other));
	FAILS(modser_serializer_join(s, &part, read_none, NULL, NULL, &other));
	FAILS(modser_serializer_join(s, &part, read_none, NULL, to, NULL));
	FAILS(modser_serializer_split(NULL, &part, "w", to, &other, &other));
	FAILS(modser_serializer_split(s, NULL, "w", to, &other, &other));
	FAILS(modser_serializer_split(s, &part, NULL, to, &other, &other));
	FAILS(modser_serializer_split(s, &part, "w", NULL, &other, &other));
	FAILS(modser_serializer_split(s, &part, "w", to, NULL, &other));
	FAILS(modser_serializer_split(s, &part, "w", to, &other, NULL));
	FAILS(modser_serializer_store_files(NULL, g, paths, 1));
	FAILS(modser_serializer_store_files(s, NULL, paths, 1));
	FAILS(modser_serializer_store_files(s, g, NULL, 1));
	FAILS(modser_serializer_store_files(s, g, paths, 1));
	FAILS(modser_serializer_store_memory(NULL, g, &part, 1));
	FAILS(modser_serializer_store_memory(s, NULL, &part, 1));
	FAILS(modser_serializer_store_memory(s, g, NULL, 1));
	FAILS(modser_serializer_load_const_file(NULL, "/", x));
	FAILS(modser_serializer_load_const_file(s, NULL, x));
	FAILS(modser_serializer_load_const_file(s, "/", NULL));
	FAILS(modser_serializer_load_const_fd(NULL, 0, x));
	FAILS(modser_serializer_load_const_fd(s, 0, NULL));
	modser_graph_destroy(to);
}

static void method(void)
{
}

static modser_serializer *make(void)
{
	return NULL;
}

Test(null, is_no_method_and_no_key)
{
	char *key;

	FAILS(modser_serializer_register_op_load(NULL, "A", method));
	FAILS(modser_serializer_register_op_load(s, NULL, method));
	FAILS(modser_serializer_register_op_load(s, "A", NULL));
	FAILS(modser_serializer_register_op_store(NULL, "A", method));
	FAILS(modser_serializer_register_op_store(s, NULL, method));
	FAILS(modser_serializer_register_op_store(s, "A", NULL));
	NOTHING(modser_serializer_op_load(NULL, "A"));
	NOTHING(modser_serializer_op_load(s, NULL));
	NOTHING(modser_serializer_op_store(NULL, "A"));
	NOTHING(modser_serializer_op_store(s, NULL));
	FAILS(modser_serializer_add(NULL, s));
	FAILS(modser_serializer_add("key", NULL));
	NOTHING(modser_serializer_get(NULL));
	NOTHING(modser_serializer_named(NULL));
	FAILS(modser_serializer_replace(NULL, s));
	FAILS(modser_serializer_replace("onnx", NULL));
	FAILS(modser_serializer_remove(NULL));
	NOTHING(modser_serializer_at(0, NULL));
	cr_expect_not_null(modser_serializer_at(0, &key));
	free(key);
	NOTHING(modser_serializer_probe(NULL, 4));
	FAILS(modser_factory_register(NULL, make));
	FAILS(modser_factory_register("key", NULL));
	NOTHING(modser_factory_create(NULL));
	modser_serializer_unref(NULL);
}

Test(null, is_no_operator_of_a_node_but_may_be_taken_away)
{
	cr_expect_eq(modser_sg_node_set_op(node, NULL), 0);
	NOTHING(modser_sg_node_op(node));
	cr_expect_eq(modser_sg_node_set_op(node, op), 0);
}
