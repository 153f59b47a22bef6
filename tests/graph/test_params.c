/* Lists of parameters: the struct of a list has what the public functions tell. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "graph/ir/schema.h"
#include "graph/op/attention/params.h"
#include "graph/op/element/params.h"
#include "graph/op/flow/params.h"
#include "graph/op/index/params.h"
#include "graph/op/index/select.h"
#include "graph/op/layer/loss.h"
#include "graph/op/layer/params.h"
#include "graph/op/ml/params.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"
#include "graph/op/quantized/params.h"
#include "graph/op/recurrent/params.h"
#include "graph/op/reduce/params.h"
#include "graph/op/signal/params.h"
#include "graph/op/window/detect.h"
#include "graph/op/window/params.h"
#include "graph/op/window/window.h"
#include "tests/graph/net.h"

#define SAME_INT(own, a) (own) == (a)->as.i
#define SAME_FLOAT(own, a) (own) == (a)->as.f
#define SAME_STR(own, a) strcmp(own, (a)->as.s) == 0
#define SAME_INTS(own, a) (own).n == (a)->n && (own).at == (a)->as.ints
#define SAME_FLOATS(own, a) (own).n == (a)->n && (own).at == (a)->as.floats
#define EXPECT_SAME(kind, field, value, dump)                                          \
	cr_expect(SAME_##kind(p.field, modser_sg_op_param(node->op, #field)),          \
		  "%s of %s", #field, modser_sg_op_name(node->op));

/* By list: its rows, and a function that compares all of its parameters. */
#define LIST(id, list)                                                                 \
	static const modser_sg_op_field id##_rows[] = {list(OP_ROW)};                  \
	static void expect_same_##id(const modser_sg_node *node)                       \
	{                                                                              \
		const struct msd_params_##id p = msd_params_##id(node);                \
                                                                                       \
		list(EXPECT_SAME)                                                      \
	}
#define ENTRY(id, list) {id##_rows, OP_COUNT(id##_rows), expect_same_##id},
#define FAMILIES(X)                                                                    \
	MSD_ATTENTION_PARAMS(X)                                                        \
	MSD_ELEMENT_PARAMS(X)                                                          \
	MSD_FLOW_PARAMS(X)                                                             \
	MSD_INDEX_PARAMS(X)                                                            \
	MSD_LAYER_PARAMS(X)                                                            \
	MSD_ML_PARAMS(X)                                                               \
	MSD_MOVE_PARAMS(X)                                                             \
	MSD_QUANTIZED_PARAMS(X)                                                        \
	MSD_RECURRENT_PARAMS(X)                                                        \
	MSD_REDUCE_PARAMS(X)                                                           \
	MSD_SIGNAL_PARAMS(X)                                                           \
	MSD_WINDOW_PARAMS(X)
FAMILIES(LIST)

static const struct list {
	const modser_sg_op_field *rows;
	size_t n;
	void (*expect_same)(const modser_sg_node *node);
} lists[] = {FAMILIES(ENTRY)};

/* True if the schema begins with the list. */
static bool begins_with(const modser_sg_op_schema *schema, const struct list *l)
{
	size_t i = 0;

	while (i < l->n && i < schema->n_fields &&
	       strcmp(l->rows[i].name, schema->fields[i].name) == 0 &&
	       l->rows[i].def.kind == schema->fields[i].def.kind)
		i++;
	return i == l->n;
}

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* A random value of the kind of parameter @i. */
static void set_param(modser_sg_op *op, size_t i, uint32_t *seed)
{
	modser_sg_attr value = {.kind = op->schema->fields[i].def.kind};
	int64_t ints[4];
	float floats[4];
	char text[] = "a_text";

	for (size_t k = 0; k < OP_COUNT(ints); k++) {
		ints[k] = (int64_t)next(seed) << 32 | next(seed);
		floats[k] = (float)next(seed) / 256;
	}
	text[0] = (char)('a' + next(seed) % 26);
	switch (value.kind) {
	case MODSER_ATTR_INT:
		value.as.i = ints[0];
		break;
	case MODSER_ATTR_FLOAT:
		value.as.f = floats[0];
		break;
	case MODSER_ATTR_STR:
		value.as.s = text;
		break;
	case MODSER_ATTR_INTS:
		value.n = next(seed) % 5;
		value.as.ints = ints;
		break;
	case MODSER_ATTR_FLOATS:
		value.n = next(seed) % 5;
		value.as.floats = floats;
		break;
	case MODSER_ATTR_GRAPH:
		return;
	}
	cr_assert_eq(modser_sg_op_set_param(op, op->schema->fields[i].name, &value), 0);
}

static modser_sg_node *node_of(modser_graph *g, const modser_sg_op_schema *schema)
{
	return net_node(g, "n", schema->name, modser_sg_tensor_create(g, "y"));
}

Test(params, each_operator_has_a_list)
{
	const modser_sg_op_schema *schema;

	for (size_t i = 0; (schema = msd_op_schema_at(i)) != NULL; i++) {
		bool has = schema->n_fields == 0;

		for (size_t k = 0; k < OP_COUNT(lists); k++) {
			has = has || (lists[k].n == schema->n_fields &&
				      begins_with(schema, &lists[k]));
		}
		cr_expect(has, "%s has no list", schema->name);
	}
}

Test(params, structs_have_defaults_and_random_values)
{
	const modser_sg_op_schema *schema;
	uint32_t seed = 1;
	size_t n = 0;

	for (size_t i = 0; (schema = msd_op_schema_at(i)) != NULL; i++) {
		modser_graph *g = modser_graph_create("params");
		modser_sg_node *node = node_of(g, schema);

		for (size_t k = 0; k < OP_COUNT(lists); k++) {
			if (!begins_with(schema, &lists[k]))
				continue;
			lists[k].expect_same(node);
			for (size_t p = 0; p < schema->n_fields; p++)
				set_param(node->op, p, &seed);
			lists[k].expect_same(node);
			n++;
		}
		modser_graph_destroy(g);
	}
	cr_expect_geq(n, OP_COUNT(lists));
}
