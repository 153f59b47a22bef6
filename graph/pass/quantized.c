/*
 * Quantized numbers of a graph: their scales and zero points, the nodes that follow a
 * value, and functions of one number as tables. Constants that are missing, not finite
 * or of another type make it no quantized number.
 */
#include "graph/pass/quantized.h"

#include <math.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/op/element/params.h"
#include "graph/op/quantized/params.h"

enum { X, SCALE, ZERO };

bool msd_quantized_is_const(const modser_sg_tensor *t, bool is_float, unsigned bits)
{
	if (t == NULL || t->type != MODSER_TENSOR_CONST || t->data == NULL ||
	    t->dtype.bits != bits)
		return false;
	return is_float ? t->dtype.code == MSD_DT_FLOAT
			: t->dtype.code == MSD_DT_INT || t->dtype.code == MSD_DT_UINT;
}

size_t msd_quantized_count(const struct msd_quantized *q)
{
	return q->scale->bytes / sizeof(float);
}

float msd_quantized_scale(const struct msd_quantized *q, size_t i)
{
	return ((const float *)q->scale->data)[msd_quantized_count(q) > 1 ? i : 0];
}

int32_t msd_quantized_zero(const struct msd_quantized *q, size_t i)
{
	const size_t at = msd_quantized_count(q) > 1 ? i : 0;

	if (q->zero == NULL)
		return 0;
	if (q->zero->dtype.bits == 32)
		return ((const int32_t *)q->zero->data)[at];
	return q->zero->dtype.code == MSD_DT_INT ? ((const int8_t *)q->zero->data)[at]
						 : ((const uint8_t *)q->zero->data)[at];
}

/* Scales and zero points of a node that quantizes or dequantizes. */
static bool has_numbers(const modser_sg_node *node, struct msd_quantized *ret)
{
	ret->x = node->inputs[X];
	ret->scale = node->inputs[SCALE];
	ret->zero = node->n_inputs > ZERO ? node->inputs[ZERO] : NULL;
	ret->axis = msd_params_blocks(node).axis;
	if (ret->x == NULL || !msd_quantized_is_const(ret->scale, true, 32) ||
	    ret->scale->ndim > 1 || ret->scale->bytes == 0 ||
	    msd_params_blocks(node).block_size != 0)
		return false;
	for (size_t i = 0; i < msd_quantized_count(ret); i++) {
		const float scale = msd_quantized_scale(ret, i);

		if (!(scale >= 0x1p-100f) || !(scale <= 0x1p100f))
			return false;
	}
	return ret->zero == NULL || ((msd_quantized_is_const(ret->zero, false, 8) ||
				      msd_quantized_is_const(ret->zero, false, 32)) &&
				     ret->zero->bytes / (ret->zero->dtype.bits / 8) ==
					     msd_quantized_count(ret));
}

/* The type of x: that of its zero point, or what its constant or producer has. */
static bool find_dtype(const modser_sg_tensor *x, struct msd_quantized *ret)
{
	const struct msd_dtype bytes = {MSD_DT_UINT, 8, 1};

	if (ret->zero != NULL) {
		ret->dtype = ret->zero->dtype;
		return true;
	}
	if (x->type == MODSER_TENSOR_CONST) {
		ret->dtype = x->dtype;
		return true;
	}
	ret->dtype = bytes;
	return msd_links_is_op(x->producer, "QuantizeLinear") &&
	       x->producer->n_inputs <= ZERO &&
	       msd_params_quantize_linear(x->producer).output_dtype[0] == '\0';
}

bool msd_quantized_from(const modser_sg_tensor *t, struct msd_quantized *ret)
{
	const modser_sg_node *node = t != NULL ? t->producer : NULL;

	*ret = (struct msd_quantized){0};
	return msd_links_is_op(node, "DequantizeLinear") &&
	       msd_params_dequantize_linear(node).output_dtype[0] == '\0' &&
	       has_numbers(node, ret) && find_dtype(ret->x, ret);
}

static bool is_bytes(struct msd_dtype t)
{
	return (t.code == MSD_DT_INT || t.code == MSD_DT_UINT) && t.bits == 8;
}

bool msd_quantized_from_one(const modser_sg_tensor *t, struct msd_quantized *ret)
{
	return msd_quantized_from(t, ret) && is_bytes(ret->dtype) &&
	       msd_quantized_count(ret) == 1;
}

bool msd_quantized_to(const modser_sg_node *node, struct msd_quantized *ret)
{
	*ret = (struct msd_quantized){0};
	if (!msd_links_is_op(node, "QuantizeLinear") || !has_numbers(node, ret) ||
	    msd_quantized_count(ret) != 1)
		return false;
	ret->dtype = (struct msd_dtype){MSD_DT_UINT, 8, 1};
	if (ret->zero != NULL)
		ret->dtype = ret->zero->dtype;
	return is_bytes(ret->dtype) &&
	       (ret->zero != NULL ||
		msd_params_quantize_linear(node).output_dtype[0] == '\0');
}

bool msd_quantized_is_same(const struct msd_quantized *a, const struct msd_quantized *b)
{
	return msd_dtype_eq(a->dtype, b->dtype) &&
	       memcmp(a->scale->data, b->scale->data, sizeof(float)) == 0 &&
	       msd_quantized_zero(a, 0) == msd_quantized_zero(b, 0);
}

/* A limit of a Clip: a constant, or its parameter. */
static bool limit(const modser_sg_node *clip, size_t i, float own, float *ret)
{
	const modser_sg_tensor *t = i < clip->n_inputs ? clip->inputs[i] : NULL;

	*ret = t == NULL ? own : 0;
	if (t != NULL &&
	    (!msd_quantized_is_const(t, true, 32) || t->bytes != sizeof(*ret)))
		return false;
	if (t != NULL)
		memcpy(ret, t->data, sizeof(*ret));
	return !isnan(*ret);
}

static bool limits_of(const modser_sg_node *node, float *low, float *high)
{
	if (msd_links_is_op(node, "ReLu") &&
	    msd_params_relu(node).negative_slope == 0) {
		*low = 0;
		*high = INFINITY;
		return true;
	}
	if (msd_links_is_op(node, "ReLu6")) {
		*low = 0;
		*high = 6;
		return true;
	}
	if (!msd_links_is_op(node, "Clip"))
		return false;
	const struct msd_params_clip p = msd_params_clip(node);
	return limit(node, 1, p.min, low) && limit(node, 2, p.max, high) &&
	       *low <= *high;
}

static void append(struct msd_quantized_tail *t, modser_sg_node *node)
{
	t->nodes[t->n++] = node;
	t->y = node->outputs[0];
}

void msd_quantized_follow(const struct msd_links *l, modser_sg_tensor *y,
			  struct msd_quantized_tail *ret)
{
	modser_sg_node *next = msd_links_only(l, y);
	struct msd_quantized to;
	float low, high;

	ret->y = y;
	ret->to.scale = NULL;
	ret->low = -INFINITY;
	ret->high = INFINITY;
	if (next != NULL && next->n_inputs > 0 && next->inputs[0] == y &&
	    limits_of(next, &low, &high)) {
		ret->low = low;
		ret->high = high;
		append(ret, next);
		next = msd_links_only(l, ret->y);
	}
	if (next != NULL && next->n_inputs > 0 && next->inputs[0] == ret->y &&
	    msd_quantized_to(next, &to)) {
		ret->to = to;
		append(ret, next);
	}
}

enum function {
	NONE,
	LIMITS,
	SIGMOID,
	TANH,
	LEAKY,
	HARD_SIGMOID,
	HARD_SWISH,
	ELU,
	GELU,
	EXP,
	ABSOLUTE,
	NEGATIVE
};

static enum function function_of(const modser_sg_node *node)
{
	static const struct {
		const char *op;
		enum function function;
	} rows[] = {{"Sigmoid", SIGMOID},
		    {"Tanh", TANH},
		    {"ReLu", LEAKY},
		    {"Hardsigmoid", HARD_SIGMOID},
		    {"HardSwish", HARD_SWISH},
		    {"Elu", ELU},
		    {"Gelu", GELU},
		    {"Exp", EXP},
		    {"Absval", ABSOLUTE},
		    {"Neg", NEGATIVE}};
	float low, high;

	if (limits_of(node, &low, &high))
		return LIMITS;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (msd_links_is_op(node, rows[i].op))
			return rows[i].function;
	}
	return NONE;
}

bool msd_quantized_has_function(const modser_sg_node *node)
{
	return function_of(node) != NONE;
}

/* alpha v + beta, from 0 to 1. */
static double hard_sigmoid(float alpha, float beta, double v)
{
	return fmin(fmax((double)alpha * v + (double)beta, 0), 1);
}

static double gelu(const modser_sg_node *node, double v)
{
	const char *how = msd_params_gelu(node).approximate;
	const double turned =
		strcmp(how, "tanh") == 0
			? tanh(sqrt(2 / acos(-1)) * (v + 0.044715 * v * v * v))
			: erf(v / sqrt(2));

	return v / 2 * (1 + turned);
}

static double apply(const modser_sg_node *node, double v)
{
	float low = 0;
	float high = 0;

	switch (function_of(node)) {
	case LIMITS:
		(void)limits_of(node, &low, &high);
		return fmin(fmax(v, (double)low), (double)high);
	case SIGMOID:
		return 1 / (1 + exp(-v));
	case TANH:
		return tanh(v);
	case LEAKY:
		return v < 0 ? v * (double)msd_params_relu(node).negative_slope : v;
	case HARD_SIGMOID:
		return hard_sigmoid(msd_params_hardsigmoid(node).alpha,
				    msd_params_hardsigmoid(node).beta, v);
	case HARD_SWISH:
		return v * hard_sigmoid(msd_params_hard_swish(node).alpha,
					msd_params_hard_swish(node).beta, v);
	case ELU:
		return v < 0 ? (double)msd_params_elu(node).alpha * expm1(v) : v;
	case GELU:
		return gelu(node, v);
	case EXP:
		return exp(v);
	case ABSOLUTE:
		return fabs(v);
	case NEGATIVE:
		return -v;
	case NONE:
		break;
	}
	return v;
}

void msd_quantized_table(const modser_sg_node *node, const struct msd_quantized *from,
			 const struct msd_quantized *to, uint8_t ret[static 256])
{
	const int32_t zero = msd_quantized_zero(to, 0);
	const double least = to->dtype.code == MSD_DT_INT ? -128 : 0;

	for (size_t i = 0; i < 256; i++) {
		const int32_t byte =
			from->dtype.code == MSD_DT_INT ? (int8_t)i : (int32_t)i;
		const float x = (float)(byte - msd_quantized_zero(from, 0)) *
				msd_quantized_scale(from, 0);
		const float y = node != NULL ? (float)apply(node, (double)x) : x;
		const double v = rint((double)(y / msd_quantized_scale(to, 0))) + zero;

		ret[i] = (uint8_t)(int)fmin(fmax(v, least), least + 255);
	}
}
