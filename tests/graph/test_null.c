/* Every function of modser_graph.h with NULL for each object and text that it needs. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/graph/net.h"

#define expect_failure(call) cr_expect_eq((call), -1, "%s", #call)
#define expect_none(call) cr_expect_null((call), "%s", #call)
#define expect_empty(call) cr_expect_str_eq((call), "", "%s", #call)
#define expect_zero(call) cr_expect((call) == 0, "%s", #call)

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

	cr_expect_str_neq(modser_graph_error(NULL), "");
	cr_expect_str_eq(modser_graph_error_name(NULL), "BAD_ARGUMENT");
	expect_failure(modser_graph_fail(NULL, "why"));
	expect_empty(modser_graph_text(NULL, MODSER_GRAPH_NAME));
	expect_failure(modser_graph_set_internal_name(NULL, "a"));
	expect_failure(modser_graph_set_identity(NULL, "a", "b", "c"));
	expect_failure(modser_graph_set_source(NULL, "a"));
	expect_failure(modser_graph_set_source_format(NULL, "a"));
	expect_failure(modser_graph_set_const_file(NULL, "a"));
	expect_failure(modser_graph_add_attr(NULL, "a", &one));
	expect_none(modser_graph_attr(NULL, "a"));
	expect_failure(modser_graph_add_input(NULL, x));
	expect_failure(modser_graph_add_output(NULL, x));
}

Test(null, is_no_graph_to_look_into_or_to_check)
{
	char *text = NULL;

	expect_zero(modser_graph_node_count(NULL));
	expect_zero(modser_graph_tensor_count(NULL));
	expect_zero(modser_graph_input_count(NULL));
	expect_zero(modser_graph_output_count(NULL));
	expect_none(modser_graph_node(NULL, 0));
	expect_none(modser_graph_tensor(NULL, 0));
	expect_none(modser_graph_input(NULL, 0));
	expect_none(modser_graph_output(NULL, 0));
	expect_failure(modser_graph_check(NULL));
	expect_failure(modser_graph_infer(NULL));
	expect_failure(modser_graph_fix_inputs(NULL, "x=float32[1]"));
	expect_failure(modser_graph_dump(NULL, &text));
	cr_expect_not(modser_graph_equal(NULL, g));
	cr_expect_not(modser_graph_equal(g, NULL));
	modser_graph_set_beside(NULL, NULL, NULL);
	modser_graph_destroy(NULL);
	expect_none(modser_sg_node_create(NULL, "n"));
	expect_none(modser_sg_op_create(NULL, "ReLu"));
	expect_none(modser_sg_tensor_create(NULL, "t"));
	expect_none(modser_sg_tensor_create_const(NULL, "t"));
}

Test(null, is_no_text_or_object_of_a_graph)
{
	const modser_sg_attr one = {.kind = MODSER_ATTR_INT};

	expect_none(modser_graph_create(NULL));
	expect_failure(modser_graph_fail(g, NULL));
	expect_failure(modser_graph_set_internal_name(g, NULL));
	expect_failure(modser_graph_set_identity(g, NULL, "b", "c"));
	expect_failure(modser_graph_set_identity(g, "a", NULL, "c"));
	expect_failure(modser_graph_set_identity(g, "a", "b", NULL));
	expect_failure(modser_graph_set_source(g, NULL));
	expect_failure(modser_graph_set_source_format(g, NULL));
	expect_failure(modser_graph_set_const_file(g, NULL));
	expect_failure(modser_graph_add_attr(g, NULL, &one));
	expect_failure(modser_graph_add_attr(g, "a", NULL));
	expect_none(modser_graph_attr(g, NULL));
	expect_failure(modser_graph_add_input(g, NULL));
	expect_failure(modser_graph_add_output(g, NULL));
	expect_failure(modser_graph_fix_inputs(g, NULL));
	expect_failure(modser_graph_dump(g, NULL));
	expect_none(modser_sg_node_create(g, NULL));
	expect_none(modser_sg_op_create(g, NULL));
	expect_none(modser_sg_tensor_create(g, NULL));
	expect_none(modser_sg_tensor_create_const(g, NULL));
	cr_expect_str_eq(modser_graph_error(g), "the name of a tensor is NULL");
	cr_expect_str_eq(modser_graph_error_name(g), "BAD_ARGUMENT");
}

Test(null, is_no_node)
{
	expect_failure(modser_sg_node_set_op(NULL, op));
	expect_failure(modser_sg_node_add_input(NULL, x));
	expect_failure(modser_sg_node_add_output(NULL, x));
	expect_empty(modser_sg_node_name(NULL));
	expect_none(modser_sg_node_graph(NULL));
	expect_zero(modser_sg_node_index(NULL));
	expect_none(modser_sg_node_op(NULL));
	expect_zero(modser_sg_node_input_count(NULL));
	expect_zero(modser_sg_node_output_count(NULL));
	expect_none(modser_sg_node_input(NULL, 0));
	expect_none(modser_sg_node_output(NULL, 0));
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

	expect_failure(modser_sg_op_set_param(NULL, "num_output", &one));
	expect_failure(modser_sg_op_set_param(op, NULL, &one));
	expect_failure(modser_sg_op_set_param(op, "num_output", NULL));
	expect_failure(modser_sg_op_set_int(NULL, "num_output", 1));
	expect_failure(modser_sg_op_set_int(op, NULL, 1));
	expect_failure(modser_sg_op_add_attr(NULL, "a", &one));
	expect_failure(modser_sg_op_add_attr(op, NULL, &one));
	expect_failure(modser_sg_op_add_attr(op, "a", NULL));
	for (size_t i = 0; i < sizeof(hollow) / sizeof(hollow[0]); i++) {
		expect_failure(modser_sg_op_add_attr(op, "a", &hollow[i]));
		expect_failure(modser_graph_add_attr(g, "a", &hollow[i]));
	}
	expect_empty(modser_sg_op_name(NULL));
	expect_none(modser_sg_op_param(NULL, "num_output"));
	expect_none(modser_sg_op_param(op, NULL));
	expect_none(modser_sg_op_attr(NULL, "a"));
	expect_none(modser_sg_op_attr(op, NULL));
	expect_zero(modser_sg_op_int(NULL, "num_output"));
	expect_zero(modser_sg_op_int(op, NULL));
	expect_zero(modser_sg_op_float(NULL, "num_output"));
	expect_zero(modser_sg_op_float(op, NULL));
	expect_none(modser_sg_op_schema_find(NULL));
	expect_none(modser_sg_op_default(NULL, "axis"));
	expect_none(modser_sg_op_default("Softmax", NULL));
}

Test(null, is_no_tensor)
{
	const int64_t dims[] = {1};
	uint64_t bytes;

	expect_failure(modser_sg_tensor_set_dims(NULL, dims, 1));
	expect_failure(modser_sg_tensor_set_dims(x, NULL, 1));
	expect_failure(modser_sg_tensor_set_dim_name(NULL, 0, "n"));
	expect_failure(modser_sg_tensor_set_dim_name(x, 0, NULL));
	expect_failure(modser_sg_tensor_set_dtype(NULL, "int8"));
	expect_failure(modser_sg_tensor_set_dtype(x, NULL));
	expect_failure(modser_sg_tensor_set_layout(NULL, "NCHW"));
	expect_failure(modser_sg_tensor_set_layout(x, NULL));
	expect_failure(modser_sg_tensor_set_type(NULL, MODSER_TENSOR_VAR));
	expect_failure(modser_sg_tensor_set_size(NULL, 1));
	expect_failure(modser_sg_tensor_add_quant(NULL, 1, 0));
	expect_failure(modser_sg_tensor_set_buffer(NULL, dims, NULL));
	expect_failure(modser_sg_tensor_set_location(NULL, 0, 1));
	expect_empty(modser_sg_tensor_name(NULL));
	expect_zero(modser_sg_tensor_index(NULL));
	cr_expect_eq(modser_sg_tensor_type_of(NULL), MODSER_TENSOR_TYPE_COUNT);
	expect_empty(modser_sg_tensor_dtype(NULL));
	expect_failure(modser_sg_tensor_ndim(NULL));
	expect_none(modser_sg_tensor_dims(NULL));
	expect_empty(modser_sg_tensor_dim_name(NULL, 0));
	expect_none(modser_sg_tensor_data(NULL, &bytes));
	expect_none(modser_sg_tensor_data(x, NULL));
}

static int read_none(void *ctx, modser_graph *graph, const char *name, modser_part *ret)
{
	(void)ctx;
	(void)name;
	(void)ret;
	return modser_graph_fail(graph, "none");
}

Test(null, is_no_serializer_to_ask)
{
	expect_zero(modser_serializer_file_count(NULL));
	expect_empty(modser_serializer_format(NULL));
	expect_empty(modser_serializer_name(NULL));
	expect_empty(modser_serializer_version(NULL));
	cr_expect_not(modser_serializer_can_store(NULL));
}

Test(null, is_no_serializer_or_file_to_load)
{
	const char *const paths[] = {NULL};
	const modser_part hollow = {NULL, 8};
	modser_part part = {"", 0};
	modser_graph *to = modser_graph_create("");

	expect_failure(modser_serializer_load_files(NULL, paths, 1, NULL, to));
	expect_failure(modser_serializer_load_files(s, NULL, 1, NULL, to));
	expect_failure(modser_serializer_load_files(s, paths, 1, NULL, to));
	expect_failure(modser_serializer_load_files(s, paths, 1, NULL, NULL));
	expect_failure(modser_serializer_load_memory(NULL, &part, 1, NULL, to));
	expect_failure(modser_serializer_load_memory(s, NULL, 1, NULL, to));
	expect_failure(modser_serializer_load_memory(s, &hollow, 1, NULL, to));
	expect_failure(modser_serializer_load_memory(s, &part, 1, NULL, NULL));
	modser_graph_destroy(to);
}

Test(null, is_no_model_to_join_or_split)
{
	modser_part part = {"", 0};
	modser_part other;
	modser_graph *to = modser_graph_create("");

	expect_failure(
		modser_serializer_join(NULL, &part, read_none, NULL, to, &other));
	expect_failure(modser_serializer_join(s, NULL, read_none, NULL, to, &other));
	expect_failure(modser_serializer_join(s, &part, NULL, NULL, to, &other));
	expect_failure(modser_serializer_join(s, &part, read_none, NULL, NULL, &other));
	expect_failure(modser_serializer_join(s, &part, read_none, NULL, to, NULL));
	expect_failure(modser_serializer_split(NULL, &part, "w", to, &other, &other));
	expect_failure(modser_serializer_split(s, NULL, "w", to, &other, &other));
	expect_failure(modser_serializer_split(s, &part, NULL, to, &other, &other));
	expect_failure(modser_serializer_split(s, &part, "w", NULL, &other, &other));
	expect_failure(modser_serializer_split(s, &part, "w", to, NULL, &other));
	expect_failure(modser_serializer_split(s, &part, "w", to, &other, NULL));
	modser_graph_destroy(to);
}

Test(null, is_no_file_to_store_and_no_constant_to_load)
{
	const char *const paths[] = {NULL};
	modser_part part = {"", 0};

	expect_failure(modser_serializer_store_files(NULL, g, paths, 1));
	expect_failure(modser_serializer_store_files(s, NULL, paths, 1));
	expect_failure(modser_serializer_store_files(s, g, NULL, 1));
	expect_failure(modser_serializer_store_files(s, g, paths, 1));
	expect_failure(modser_serializer_store_memory(NULL, g, &part, 1));
	expect_failure(modser_serializer_store_memory(s, NULL, &part, 1));
	expect_failure(modser_serializer_store_memory(s, g, NULL, 1));
	expect_failure(modser_serializer_load_const_file(NULL, "/", x));
	expect_failure(modser_serializer_load_const_file(s, NULL, x));
	expect_failure(modser_serializer_load_const_file(s, "/", NULL));
	expect_failure(modser_serializer_load_const_fd(NULL, 0, x));
	expect_failure(modser_serializer_load_const_fd(s, 0, NULL));
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

	expect_failure(modser_serializer_register_op_load(NULL, "A", method));
	expect_failure(modser_serializer_register_op_load(s, NULL, method));
	expect_failure(modser_serializer_register_op_load(s, "A", NULL));
	expect_failure(modser_serializer_register_op_store(NULL, "A", method));
	expect_failure(modser_serializer_register_op_store(s, NULL, method));
	expect_failure(modser_serializer_register_op_store(s, "A", NULL));
	expect_none(modser_serializer_op_load(NULL, "A"));
	expect_none(modser_serializer_op_load(s, NULL));
	expect_none(modser_serializer_op_store(NULL, "A"));
	expect_none(modser_serializer_op_store(s, NULL));
	expect_failure(modser_serializer_add(NULL, s));
	expect_failure(modser_serializer_add("key", NULL));
	expect_none(modser_serializer_get(NULL));
	expect_none(modser_serializer_named(NULL));
	expect_failure(modser_serializer_replace(NULL, s));
	expect_failure(modser_serializer_replace("onnx", NULL));
	expect_failure(modser_serializer_remove(NULL));
	expect_none(modser_serializer_at(0, NULL));
	cr_expect_not_null(modser_serializer_at(0, &key));
	free(key);
	expect_none(modser_serializer_probe(NULL, 4));
	expect_failure(modser_factory_register(NULL, make));
	expect_failure(modser_factory_register("key", NULL));
	expect_none(modser_factory_create(NULL));
	modser_serializer_unref(NULL);
}

static void expect_refused(int result, const char *why)
{
	cr_expect_eq(result, -1);
	cr_expect_str_eq(modser_registration_error(), why);
}

static int create(const modser_serializer_ops *ops)
{
	modser_serializer *made = modser_serializer_create(ops);

	modser_serializer_unref(made);
	return made != NULL ? 0 : -1;
}

static bool probe(const void *head, size_t bytes)
{
	(void)head;
	return bytes == 0;
}

static int load(const modser_serializer *mine, const modser_part *parts,
		const modser_model_options *options, modser_graph *graph)
{
	(void)mine;
	(void)parts;
	(void)options;
	return modser_graph_fail(graph, "never");
}

static const modser_serializer_ops whole = {.size = sizeof(whole),
					    .name = "a",
					    .format = "b",
					    .version = "1",
					    .n_files = 1,
					    .probe = probe,
					    .load = load};

Test(null, is_no_field_that_a_serializer_needs)
{
	modser_serializer_ops ops = whole;

	expect_refused(create(NULL), "the modser_serializer_ops is NULL");
	cr_expect_eq(create(&ops), 0);
	cr_expect_str_eq(modser_registration_error(), "");
	ops.size = 8;
	cr_expect_eq(create(&ops), -1);
	cr_expect_not_null(strstr(modser_registration_error(),
				  "modser_serializer_ops.size is 8, expected "));
	ops = whole;
	ops.name = NULL;
	expect_refused(create(&ops), "modser_serializer_ops.name is NULL");
	ops = whole;
	ops.format = NULL;
	expect_refused(create(&ops), "modser_serializer_ops.format is NULL");
	ops = whole;
	ops.version = NULL;
	expect_refused(create(&ops), "modser_serializer_ops.version is NULL");
	ops = whole;
	ops.probe = NULL;
	expect_refused(create(&ops), "modser_serializer_ops.probe is NULL");
	ops = whole;
	ops.load = NULL;
	expect_refused(create(&ops), "modser_serializer_ops.load is NULL");
	ops = whole;
	ops.n_files = 0;
	expect_refused(create(&ops), "modser_serializer_ops.n_files is 0");
}

Test(null, is_no_field_that_an_operator_needs)
{
	const modser_sg_op_field nameless[] = {{.def = {.kind = MODSER_ATTR_INT}}};
	const modser_sg_op_field hollow[] = {
		{.name = "mode", .def = {.kind = MODSER_ATTR_STR}}};
	modser_sg_op_schema schema = {.size = sizeof(schema), .n_fields = 1};

	expect_refused(modser_sg_op_register(NULL), "the modser_sg_op_schema is NULL");
	expect_refused(modser_sg_op_register(&schema),
		       "modser_sg_op_schema.name is NULL");
	schema.name = "Hollow";
	expect_refused(modser_sg_op_register(&schema),
		       "modser_sg_op_schema.fields is NULL");
	schema.fields = nameless;
	expect_refused(modser_sg_op_register(&schema),
		       "modser_sg_op_field.name is NULL: number 0 of operator Hollow");
	schema.fields = hollow;
	expect_refused(modser_sg_op_register(&schema),
		       "modser_sg_op_field.def is NULL: mode of operator Hollow");
}

Test(null, is_no_field_that_a_row_needs)
{
	const modser_onnx_row rows[] = {
		{sizeof(rows[0]), NULL, "A", 1, "ReLu", ""},
		{sizeof(rows[0]), "mine", NULL, 1, "ReLu", ""},
		{sizeof(rows[0]), "mine", "A", 1, NULL, ""},
		{sizeof(rows[0]), "mine", "A", 1, "ReLu", NULL}};

	expect_refused(modser_onnx_add_row(NULL), "the modser_onnx_row is NULL");
	expect_refused(modser_onnx_add_row(&rows[0]), "modser_onnx_row.domain is NULL");
	expect_refused(modser_onnx_add_row(&rows[1]), "modser_onnx_row.name is NULL");
	expect_refused(modser_onnx_add_row(&rows[2]), "modser_onnx_row.op is NULL");
	expect_refused(modser_onnx_add_row(&rows[3]), "modser_onnx_row.params is NULL");
}

Test(null, is_no_operator_of_a_node_but_may_be_taken_away)
{
	cr_expect_eq(modser_sg_node_set_op(node, NULL), 0);
	expect_none(modser_sg_node_op(node));
	cr_expect_eq(modser_sg_node_set_op(node, op), 0);
}
