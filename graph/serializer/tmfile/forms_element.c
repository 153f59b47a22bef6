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

/* How the smaller of two tensors goes with the larger. */
enum fit {
	FITS_NOT = 0,
	FITS_ONE = 1,      /* one element goes with all */
	FITS_ALL = 2,      /* an element for each */
	FITS_CHANNELS = 4, /* one for each channel */
	FITS_PLANE = 8     /* one for each place of the last two axes */
};

/* Tengine counts elements: as many as channels go with these, as many as a plane has
 * places with these. */
static enum fit fit_of(const modser_sg_tensor *large, const modser_sg_tensor *small)
{
	const uint64_t n = tm_elements(small);
	const int ndim = large->ndim;
	int from;
	int to;

	if (!find_axes(large, small, &from, &to))
		return FITS_NOT;
	if (n == tm_elements(large))
		return FITS_ALL;
	if (n == 1)
		return FITS_ONE;
	if (from == 1 && to == 1)
		return FITS_CHANNELS;
	return ndim > 2 && from >= ndim - 2 && n != (uint64_t)large->dims[1] &&
			       n == (uint64_t)(large->dims[ndim - 1] *
					       large->dims[ndim - 2])
		       ? FITS_PLANE
		       : FITS_NOT;
}

static bool is_float(const modser_sg_tensor *t)
{
	return t != NULL && strcmp(t->dtype_name, "float32") == 0;
}

/* A type of Eltwise, and what it takes. */
struct pair {
	int64_t type;
	unsigned fits; /* for a smaller second input */
	bool may_swap;
};

static int put_pair(struct tm_node *n, const struct pair *p)
{
	modser_sg_tensor *const *in = n->from->inputs;

	if (!is_float(tm_input(n, 0)) || !is_float(tm_input(n, 1)))
		return tm_fail(n, "it takes float32 alone");
	const uint64_t a = tm_elements(in[0]);
	const uint64_t b = tm_elements(in[1]);
	if (a == 0 || b == 0)
		return tm_fail(n, "the shapes of its inputs are not known");
	if (tm_become(n, "Eltwise") != 0 || tm_set_int(n, "type", p->type) != 0)
		return -1;
	if (a >= b && (fit_of(in[0], in[1]) & p->fits) != 0)
		return 0;
	const enum fit fit = fit_of(in[1], in[0]);
	if (a > b || tm_elements(n->from->outputs[0]) != b)
		return tm_fail(n, "its inputs are stretched in a way that it has not");
	if ((fit & p->fits) == 0)
		return tm_fail(n, "its inputs are stretched in a way that it has not");
	if (!p->may_swap)
		return tm_fail(n, "the larger input must be the first");
	n->own[0] = in[1];
	n->own[1] = in[0];
	return 0;
}

static int write_add(struct tm_node *n)
{
	return put_pair(
		n, &(struct pair){2, FITS_ONE | FITS_ALL | FITS_CHANNELS | FITS_PLANE,
				  true});
}

/* A constant less a tensor is a power of 1. */
static int write_sub(struct tm_node *n)
{
	float from;

	if (!tm_number(tm_input(n, 0), &from) || !is_float(tm_input(n, 1)) ||
	    tm_elements(tm_input(n, 1)) < 2) {
		return put_pair(
			n,
			&(struct pair){4, FITS_ONE | FITS_ALL | FITS_CHANNELS, false});
	}
	n->own[0] = n->from->inputs[1];
	n->n_inputs = 1;
	return tm_become(n, "Eltwise") != 0 || tm_set_int(n, "type", 17) != 0 ||
			       tm_set_float(n, "shift", from) != 0
		       ? -1
		       : tm_set_float(n, "scale", -1);
}

static int write_mul(struct tm_node *n)
{
	return put_pair(
		n, &(struct pair){0, FITS_ONE | FITS_ALL | FITS_CHANNELS | FITS_PLANE,
				  true});
}

/* 1 over a tensor has an operator of its own. */
static int write_div(struct tm_node *n)
{
	float over;

	if (tm_number(tm_input(n, 0), &over) && over == 1 && is_float(tm_input(n, 1)) &&
	    tm_elements(tm_input(n, 1)) > 1) {
		n->own[0] = n->from->inputs[1];
		n->n_inputs = 1;
		return tm_become(n, "Reciprocal");
	}
	return put_pair(
		n, &(struct pair){10, FITS_ONE | FITS_ALL | FITS_CHANNELS | FITS_PLANE,
				  false});
}

static int write_pow(struct tm_node *n)
{
	return put_pair(n, &(struct pair){16, FITS_ONE | FITS_ALL, false});
}

/* The larger, or the smaller, of a tensor and a number is a Clip. 1: it is none. */
static int put_limit(struct tm_node *n, const char *limit)
{
	float number;

	for (size_t i = 0; n->n_inputs == 2 && i < 2; i++) {
		if (!tm_number(tm_input(n, i), &number) ||
		    !is_float(tm_input(n, 1 - i)) ||
		    tm_elements(n->from->outputs[0]) != tm_elements(tm_input(n, 1 - i)))
			continue;
		n->own[0] = n->from->inputs[1 - i];
		n->n_inputs = 1;
		return tm_become(n, "Clip") != 0 ? -1 : tm_set_float(n, limit, number);
	}
	return 1;
}

static int write_max(struct tm_node *n)
{
	const int result = put_limit(n, "min");

	if (result <= 0 || n->n_inputs != 2 || !is_float(tm_input(n, 0)))
		return result < 0 ? -1 : 0;
	return put_pair(n, &(struct pair){6, FITS_ALL, true});
}

static int write_min(struct tm_node *n)
{
	return put_limit(n, "max") < 0 ? -1 : 0;
}

static int write_sum(struct tm_node *n)
{
	return n->n_inputs == 2 ? write_add(n) : 0;
}

/* Tengine has no operator that only copies, but this one. */
static int write_noop(struct tm_node *n)
{
	return tm_become(n, "Dropout");
}

static int write_unary(struct tm_node *n)
{
	/* By Tengine's numbers. */
	static const char *const types[] = {
		[0] = "Absval", [1] = "Neg",   [2] = "Floor", [5] = "Sqrt",
		[7] = "Exp",    [8] = "Log",   [9] = "Sin",   [10] = "Cos",
		[11] = "Tan",   [12] = "Asin", [13] = "Acos", [14] = "Atan"};
	int64_t type = 0;

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
	{"Absval", write_unary},
	{"Acos", write_unary},
	{"Add", write_add},
	{"Addn", write_sum},
	{"Asin", write_unary},
	{"Atan", write_unary},
	{"Cast", write_cast},
	{"Clip", write_clip},
	{"Cos", write_unary},
	{"Div", write_div},
	{"Exp", write_unary},
	{"Floor", write_unary},
	{"Log", write_unary},
	{"Maximum", write_max},
	{"Minimum", write_min},
	{"Mul", write_mul},
	{"Neg", write_unary},
	{"Noop", write_noop},
	{"PReLU", write_prelu},
	{"Pow", write_pow},
	{"Sin", write_unary},
	{"Sqrt", write_unary},
	{"Sub", write_sub},
	{"Tan", write_unary},
	{NULL, NULL},
};
