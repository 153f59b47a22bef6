/* Rows of tmfiles: those of a plugin are checked, and read and write an operator. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "graph/modser_graph.h"
#include "graph/serializer/tmfile/row.h"

static void expect_refused(const modser_tmfile_row *row, const char *text)
{
	cr_assert_eq(modser_tmfile_add_row(row), -1);
	cr_expect_str_eq(modser_registration_error(), text);
}

Test(tmfile_rows, are_refused_with_what_is_wrong)
{
	const modser_tmfile_row rows[] = {
		{sizeof(rows[0]), 900, NULL, ""},
		{sizeof(rows[0]), 900, "Add", NULL},
		{sizeof(rows[0]), 900, "Nobodys", ""},
		{sizeof(rows[0]), 900, "Celu", "i:alpha"},
		{sizeof(rows[0]), 900, "Celu", "f:alpha f:gamma"},
		{sizeof(rows[0]), 900, "Celu", "f:alpha x:alpha"},
		{sizeof(rows[0]), 900, "Celu", "alpha"},
		{sizeof(rows[0]), 5, "Celu", "f:alpha"},
		{sizeof(rows[0]), 900, "Convolution", ""}};

	expect_refused(NULL, "the modser_tmfile_row is NULL");
	expect_refused(&rows[0], "modser_tmfile_row.op is NULL");
	expect_refused(&rows[1], "modser_tmfile_row.params is NULL");
	expect_refused(&rows[2],
		       "modser_tmfile_row.op: no operator is called \"Nobodys\"");
	expect_refused(&rows[3], "modser_tmfile_row.params: operator Celu has no "
				 "parameter of kind 'i' called \"alpha\"");
	expect_refused(&rows[4], "modser_tmfile_row.params: operator Celu has no "
				 "parameter of kind 'f' called \"gamma\"");
	expect_refused(&rows[5],
		       "modser_tmfile_row.params of Celu: no kind is in \" x:alpha\"");
	expect_refused(&rows[6],
		       "modser_tmfile_row.params of Celu: no kind is in \"alpha\"");
	expect_refused(&rows[7],
		       "modser_tmfile_row: type 5 or operator Celu has a row");
	expect_refused(&rows[8],
		       "modser_tmfile_row: type 900 or operator Convolution has a row");
}

Test(tmfile_rows, name_parameters_of_their_operators)
{
	for (size_t i = 0; i < tm_n_rows; i++) {
		const modser_sg_op_schema *schema =
			modser_sg_op_schema_find(tm_rows[i].op);
		struct tm_field_walk w = tm_fields(&tm_rows[i]);
		struct tm_field f;

		cr_expect_eq(tm_row_of_type(tm_rows[i].type), &tm_rows[i]);
		cr_assert_not_null(schema, "%s", tm_rows[i].op);
		while (tm_field_next(&w, &f)) {
			cr_expect_lt(tm_field_param(&f, schema), schema->n_fields,
				     "%s %.*s", tm_rows[i].op, (int)f.n, f.name);
		}
		cr_expect_str_eq(w.next, "", "%s: %s", tm_rows[i].op, w.next);
	}
}

/* A parameter of each kind, and a byte before an aligned word. */
static const modser_sg_op_field fields[] = {
	{"flag", {.kind = MODSER_ATTR_INT}, false},
	{"count", {.kind = MODSER_ATTR_INT, .as.i = 1}, false},
	{"ratio", {.kind = MODSER_ATTR_FLOAT, .as.f = 1}, false},
	{"axes", {.kind = MODSER_ATTR_INTS}, false},
	{"ratios", {.kind = MODSER_ATTR_FLOATS}, false},
	{"boxes", {.kind = MODSER_ATTR_FLOATS}, false},
	{"word", {.kind = MODSER_ATTR_STR, .as.s = ""}, false}};
static const modser_sg_op_schema schema = {.size = sizeof(schema),
					   .name = "OfEachKind",
					   .fields = fields,
					   .n_fields = 7,
					   .min_in = 1,
					   .max_in = 1,
					   .min_out = 1,
					   .max_out = 1};
static const modser_tmfile_row kinds = {
	sizeof(kinds), 901, "OfEachKind",
	"b:flag i:count f:ratio I:axes F:ratios Q:boxes s:word"};

static void set(modser_sg_op *op, const char *param, modser_sg_attr value)
{
	cr_assert_eq(modser_sg_op_set_param(op, param, &value), 0);
}

static modser_graph *graph_create(void)
{
	static const int64_t axes[] = {3, -1};
	static const float ratios[] = {0.5F, 2, 4, 8, 16, 32, 64, 128};
	modser_graph *g = modser_graph_create("kinds");
	modser_sg_tensor *x =
		modser_graph_create_input(g, "x", "float32", (int64_t[]){2, 3}, 2);
	modser_sg_tensor *y = modser_sg_tensor_create(g, "y");
	modser_sg_node *node = modser_sg_node_create(g, "n");
	modser_sg_op *op = modser_sg_op_create(g, "OfEachKind");

	set(op, "flag", (modser_sg_attr){MODSER_ATTR_INT, 0, {.i = 1}});
	set(op, "count", (modser_sg_attr){MODSER_ATTR_INT, 0, {.i = -7}});
	set(op, "ratio", (modser_sg_attr){MODSER_ATTR_FLOAT, 0, {.f = 0.25F}});
	set(op, "axes", (modser_sg_attr){MODSER_ATTR_INTS, 2, {.ints = axes}});
	set(op, "ratios", (modser_sg_attr){MODSER_ATTR_FLOATS, 3, {.floats = ratios}});
	set(op, "boxes", (modser_sg_attr){MODSER_ATTR_FLOATS, 8, {.floats = ratios}});
	set(op, "word", (modser_sg_attr){MODSER_ATTR_STR, 0, {.s = "größe"}});
	cr_assert_eq(modser_sg_node_set_op(node, op), 0);
	cr_assert_eq(modser_sg_node_add_input(node, x), 0);
	cr_assert_eq(modser_sg_node_add_output(node, y), 0);
	cr_assert_eq(modser_graph_add_output(g, y), 0);
	return g;
}

Test(tmfile_rows, of_others_are_read_and_written)
{
	modser_serializer *tengine = modser_serializer_get("tengine");
	modser_graph *g;
	modser_graph *again = modser_graph_create("");
	modser_part part;

	cr_assert_eq(modser_sg_op_register(&schema), 0);
	cr_assert_eq(modser_tmfile_add_row(&kinds), 0);
	cr_expect_eq(tm_row_of_type(901), &kinds);
	cr_expect_eq(tm_row_of_op("OfEachKind"), &kinds);
	cr_expect_eq(tm_row_bytes(&kinds), 28);
	cr_expect_eq(modser_tmfile_add_row(&kinds), -1);
	g = graph_create();
	cr_assert_eq(modser_serializer_store_memory(tengine, g, &part, 1), 0, "%s",
		     modser_graph_error(g));
	cr_assert_eq(modser_serializer_load_memory(tengine, &part, 1, NULL, again), 0,
		     "%s", modser_graph_error(again));
	cr_expect(modser_graph_equal(g, again), "%s", modser_graph_error(g));
	free((void *)(uintptr_t)part.data);
	modser_graph_destroy(g);
	modser_graph_destroy(again);
	modser_serializer_unref(tengine);
}
