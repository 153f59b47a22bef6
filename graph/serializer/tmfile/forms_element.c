/* Element-wise operators: Tengine has them as types of Eltwise and Unary. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tmfile/plan.h"

/* How many axes of @small are those of @large, from the last one on; -1: one differs
 * and is not 1. *@ret_from and *@ret_to: the first and the last axis of @large that
 * @small has. */
static bool find_axes(const modser_sg_tensor *large, const modser_sg_tensor *small,
		      int *ret_from, int *ret_to)
{
	*ret_from = large->ndim;
	*ret_to = -1;
	if (small->ndim > large->ndim)
		return false;
	for (int i = 0; i < small->ndim; i++) {
		const int axis = large->ndim - small->ndim + i;

		if (small->dims[i] == 1)
			continue;
		if (small->dims[i] != large->dims[axis])
			return false;
		*ret_from = axis < *ret_from ? axis : *ret_from;
		*ret_to = axis;
	}
	return true;
}

/* Tengine counts elements: as many as the channels go with channels, as many as a
 * plane with the places of the last two axes. */
static bool goes_with(const modser_sg_tensor *large, const modser_sg_tensor *small)
{
	const uint64_t n = tm_elements(small);
	const int ndim = large->ndim;
	int from;
	int to;

	if (!find_axes(large, small, &from, &to))
		return false;
	if (n == tm_elements(large) || n == 1)
		return true;
	if (from == 1 && to == 1)
		return true;
	return ndim > 2 && from >= ndim - 2 && n != (uint64_t)large->dims[1] &&
	       n == (uint64_t)(large->dims[ndim - 1] * large->dims[ndim - 2]);
}

static bool is_float(const modser_sg_tensor *t)
{
	return t != NULL && strcmp(t->dtype_name, "float32") == 0;
}

static int put_pair(struct tm_node *n, int64_t type, bool may_swap)
{
	modser_sg_tensor *const *in = n->from->inputs;

	if (!is_float(tm_input(n, 0)) || !is_float(tm_input(n, 1)))
		return tm_fail(n, "it takes float32 alone");
	const uint64_t a = tm_elements(in[0]);
	const uint64_t b = tm_elements(in[1]);
	if (a == 0 || b == 0)
		return tm_fail(n, "the shapes of its inputs are not known");
	if (tm_become(n, "Eltwise") != 0 || tm_set_int(n, "type", type) != 0)
		return -1;
	if (a >= b && goes_with(in[0], in[1]))
		return 0;
	if (!goes_with(in[1], in[0]) || tm_elements(n->from->outputs[0]) != b)
		return tm_fail(n, "its inputs are stretched in a way that it has not");
	if (!may_swap)
		return tm_fail(n, "the larger input must be the first");
	n->own[0] = in[1];
	n->own[1] = in[0];
	return 0;
}

static int write_add(struct tm_node *n)
{
	return put_pair(n, 2, true);
}

static int write_sub(struct tm_node *n)
{
	return put_pair(n, 4, false);
}

static int write_mul(struct tm_node *n)
{
	return put_pair(n, 0, true);
}

static int write_div(struct tm_node *n)
{
	return put_pair(n, 10, false);
}

static int write_pow(struct tm_node *n)
{
	return put_pair(n, 16, false);
}

static int write_max(struct tm_node *n)
{
	return n->n_inputs == 2 && is_float(tm_input(n, 0)) ? put_pair(n, 6, true) : 0;
}

static int write_sum(struct tm_node *n)
{
	return n->n_inputs == 2 ? put_pair(n, 2, true) : 0;
}

static int write_unary(struct tm_node *n)
{
	/* By Tengine's numbers. */
	static const char *const types[] = {
		[1] = "Neg",   [2] = "Floor", [5] = "Sqrt", [7] = "Exp",
		[8] = "Log",   [9] = "Sin",   [10] = "Cos", [11] = "Tan",
		[12] = "Asin", [13] = "Acos", [14] = "Atan"};
	int64_t type = 1;

	if (!is_float(tm_input(n, 0)))
		return tm_fail(n, "it takes float32 alone");
	while (types[type] == NULL || strcmp(types[type], n->op->schema->name) != 0)
		type++;
	return tm_become(n, "Unary") != 0 ? -1 : tm_set_int(n, "type", type);
}

/* Limits are inputs in ONNX. */
static int write_clip(struct tm_node *n)
{
	float low = modser_sg_op_float(n->op, "min");
	float high = modser_sg_op_float(n->op, "max");

	if ((tm_input(n, 1) != NULL && !tm_number(tm_input(n, 1), &low)) ||
	    (tm_input(n, 2) != NULL && !tm_number(tm_input(n, 2), &high)))
		return tm_fail(n, "its limits must be constants of float32");
	n->n_inputs = 1;
	if (low == 0 && high == 6)
		return tm_become(n, "ReLu6");
	if (tm_become(n, "Clip") != 0 || tm_set_float(n, "min", low) != 0)
		return -1;
	return tm_set_float(n, "max", high);
}

/* Slopes go with channels; one slope is that of a ReLu. */
static int write_prelu(struct tm_node *n)
{
	const modser_sg_tensor *x = tm_input(n, 0);
	const modser_sg_tensor *slope = tm_input(n, 1);
	float one;
	int from;
	int to;

	if (tm_number(slope, &one)) {
		n->n_inputs = 1;
		return tm_become(n, "ReLu") != 0
			       ? -1
			       : tm_set_float(n, "negative_slope", one);
	}
	if (tm_int(n, "broadcasts") == 0)
		return 0;
	if (tm_elements(slope) == 0 || tm_ndim(n) < 2)
		return tm_fail(n, "the shape of its input is not known");
	if (slope->type != MODSER_TENSOR_CONST || !find_axes(x, slope, &from, &to) ||
	    from != 1 || to != 1)
		return tm_fail(n, "it has not one slope for each channel");
	n->lengths[slope->index] = slope->dims[slope->ndim - x->ndim + 1];
	return tm_become(n, "PReLU");
}

static int write_cast(struct tm_node *n)
{
	static const char *const types[] = {"float32", "float16", "int8",
					    "uint8",   "int32",   "int16"};
	const char *to = modser_sg_op_param(n->op, "to")->as.s;
	const modser_sg_tensor *x = tm_input(n, 0);
	const int64_t count = sizeof(types) / sizeof(types[0]);
	int64_t a = 0;
	int64_t b = 0;

	if (to[0] == '\0')
		return 0;
	while (a < count && strcmp(types[a], x->dtype_name) != 0)
		a++;
	while (b < count && strcmp(types[b], to) != 0)
		b++;
	if (a == count || b == count)
		return tm_fail(n, "it has no %s", a == count ? x->dtype_name : to);
	if (tm_become(n, "Cast") != 0 || tm_set_int(n, "type_from", a) != 0)
		return -1;
	return tm_set_int(n, "type_to", b);
}

const struct tm_form tm_forms_element[] = {
	{"Acos", write_unary},  {"Add", write_add},     {"Addn", write_sum},
	{"Asin", write_unary},  {"Atan", write_unary},  {"Cast", write_cast},
	{"Clip", write_clip},   {"Cos", write_unary},   {"Div", write_div},
	{"Exp", write_unary},   {"Floor", write_unary}, {"Log", write_unary},
	{"Maximum", write_max}, {"Mul", write_mul},     {"Neg", write_unary},
	{"PReLU", write_prelu}, {"Pow", write_pow},     {"Sin", write_unary},
	{"Sqrt", write_unary},  {"Sub", write_sub},     {"Tan", write_unary},
	{NULL, NULL},
};
