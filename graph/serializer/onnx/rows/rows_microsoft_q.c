/*
 * Quantized operators of ONNX Runtime (com.microsoft). Each becomes what it means:
 * its inputs dequantized, the operator in float32, and its result quantized. The node
 * itself is the last of them.
 */
#include "graph/ir/graph.h"
#include "graph/serializer/onnx/format.h"
#include "graph/serializer/onnx/rows/row.h"

/* Input @k of the node, dequantized by the two inputs after it; along @axis, if there
 * is more than one scale. NULL: the graph has the error. */
static modser_sg_tensor *dequantized(const struct onnx_node *n, size_t k, int64_t axis)
{
	modser_sg_tensor *x = onnx_input(n, k);
	modser_sg_tensor *scale = onnx_input(n, k + 1);

	if (x == NULL || scale == NULL) {
		(void)onnx_fail(n, "input %zu or its scale is missing", k);
		return NULL;
	}
	const struct onnx_made made = onnx_make(n, "DequantizeLinear", x, scale, NULL);
	if (made.n.node == NULL || onnx_set_int(&made.n, "axis", axis) != 0 ||
	    (onnx_input(n, k + 2) != NULL &&
	     onnx_put_input(&made.n, 2, onnx_input(n, k + 2)) != 0))
		return NULL;
	return made.out;
}

/* Let the node quantize @value by @scale and @zero, to the type of @like without a
 * zero point. */
static int quantize(struct onnx_node *n, modser_sg_tensor *value,
		    modser_sg_tensor *scale, modser_sg_tensor *zero,
		    const modser_sg_tensor *like)
{
	if (value == NULL)
		return -1;
	if (scale == NULL)
		return onnx_fail(n, "the scale of its output is missing");
	(void)onnx_input_ndim(n, 0); /* infers what is known so far */
	if (zero == NULL && like->has_dtype &&
	    onnx_set_text(n, "output_dtype", like->dtype_name) != 0)
		return -1;
	n->node->n_inputs = 0;
	if (modser_sg_node_add_input(n->node, value) < 0 ||
	    modser_sg_node_add_input(n->node, scale) < 0)
		return -1;
	return zero != NULL && modser_sg_node_add_input(n->node, zero) < 0 ? -1 : 0;
}

/* Inputs: a, its scale and zero point, b and its own, and those of the output. */
static int load_pair(struct onnx_node *n, const char *op)
{
	modser_sg_tensor *like = onnx_input(n, 0);
	modser_sg_tensor *a = dequantized(n, 0, 1);
	modser_sg_tensor *b = a != NULL ? dequantized(n, 3, 1) : NULL;

	if (b == NULL)
		return -1;
	return quantize(n, onnx_make(n, op, a, b, NULL).out, onnx_input(n, 6),
			onnx_input(n, 7), like);
}

static int load_add(struct onnx_node *n)
{
	return load_pair(n, "Add");
}

static int load_mul(struct onnx_node *n)
{
	return load_pair(n, "Mul");
}

/* Add @op of the one dequantized input; node NULL: the graph has the error. */
static struct onnx_made single(struct onnx_node *n, const char *op)
{
	modser_sg_tensor *x = dequantized(n, 0, 1);
	const struct onnx_made none = {0};

	return x != NULL ? onnx_make(n, op, x, NULL, NULL) : none;
}

static int finish_single(struct onnx_node *n, const struct onnx_made *made)
{
	return made->n.node != NULL ? quantize(n, made->out, onnx_input(n, 3),
					       onnx_input(n, 4), onnx_input(n, 0))
				    : -1;
}

/* Add @op of the one input in steps of its scale. A mean of such integers has no error,
 * so that a tie is one. node NULL: the graph has the error. */
static struct onnx_made of_steps(const struct onnx_node *n, const char *op)
{
	modser_sg_tensor *x = onnx_input(n, 0);
	modser_sg_tensor *scale = onnx_input(n, 1);
	const struct onnx_made none = {0};

	if (x == NULL || scale == NULL) {
		(void)onnx_fail(n, "input 0 or its scale is missing");
		return none;
	}
	const struct onnx_made one = onnx_make(n, "Div", scale, scale, NULL);
	if (one.n.node == NULL)
		return none;
	const struct onnx_made steps =
		onnx_make(n, "DequantizeLinear", x, one.out, NULL);
	if (steps.n.node == NULL ||
	    (onnx_input(n, 2) != NULL &&
	     onnx_put_input(&steps.n, 2, onnx_input(n, 2)) != 0))
		return none;
	return onnx_make(n, op, steps.out, NULL, NULL);
}

/* A step of the output has as many steps of the input as the scales say. */
static int finish_steps(struct onnx_node *n, const struct onnx_made *made)
{
	if (made->n.node == NULL)
		return -1;
	if (onnx_input(n, 3) == NULL)
		return onnx_fail(n, "the scale of its output is missing");
	const struct onnx_made scale =
		onnx_make(n, "Div", onnx_input(n, 3), onnx_input(n, 1), NULL);
	return scale.n.node != NULL ? quantize(n, made->out, scale.out,
					       onnx_input(n, 4), onnx_input(n, 0))
				    : -1;
}

static int load_sigmoid(struct onnx_node *n)
{
	const struct onnx_made made = single(n, "Sigmoid");

	return finish_single(n, &made);
}

static int load_leaky_relu(struct onnx_node *n)
{
	const Onnx__AttributeProto *alpha = onnx_attr(n, "alpha");
	const modser_sg_attr slope = {.kind = MODSER_ATTR_FLOAT,
				      .as.f = alpha != NULL ? alpha->f : 0.01f};
	const struct onnx_made made = single(n, "ReLu");

	if (made.n.node == NULL ||
	    modser_sg_op_set_param(made.n.op, "negative_slope", &slope) != 0)
		return -1;
	return finish_single(n, &made);
}

static int load_softmax(struct onnx_node *n)
{
	const bool flattens = onnx_attr_int(n, "opset", 13) < 13;
	const struct onnx_made made = single(n, "Softmax");

	if (made.n.node == NULL ||
	    onnx_set_int(&made.n, "axis",
			 onnx_attr_int(n, "axis", flattens ? 1 : -1)) != 0 ||
	    onnx_set_int(&made.n, "flattens", flattens) != 0)
		return -1;
	return finish_single(n, &made);
}

static int load_mean(struct onnx_node *n, const int64_t *axes, size_t n_axes,
		     int64_t keeps)
{
	const struct onnx_made made = of_steps(n, "Reduction");

	if (made.n.node == NULL || onnx_set_int(&made.n, "type", 1) != 0 ||
	    onnx_set_int(&made.n, "keepdim", keeps) != 0 ||
	    onnx_set_ints(&made.n, "axes", axes, n_axes) != 0)
		return -1;
	return finish_steps(n, &made);
}

static int load_reduce_mean(struct onnx_node *n)
{
	const Onnx__AttributeProto *axes = onnx_attr(n, "axes");

	return load_mean(n, axes != NULL ? axes->ints : NULL,
			 axes != NULL ? axes->n_ints : 0,
			 onnx_attr_int(n, "keepdims", 1));
}

static int load_global_pool(struct onnx_node *n)
{
	int64_t axes[MODSER_GRAPH_MAX_NDIM];

	if (onnx_attr_int(n, "channels_last", 0) == 0) {
		const struct onnx_made made = of_steps(n, "Pooling");

		if (made.n.node == NULL || onnx_set_int(&made.n, "alg", 1) != 0 ||
		    onnx_set_int(&made.n, "global", 1) != 0)
			return -1;
		return finish_steps(n, &made);
	}
	const int ndim = onnx_input_ndim(n, 0);
	if (ndim < 3)
		return onnx_fail(n, "the shape of its input is not known");
	for (int i = 0; i < ndim - 2; i++)
		axes[i] = 1 + i;
	return load_mean(n, axes, (size_t)ndim - 2, 1);
}

/* The windows are those of ONNX's own AveragePool, except where ONNX Runtime divides by
 * places beyond the padding. */
static int load_average_pool(struct onnx_node *n)
{
	int64_t first;
	const struct onnx_row *pool =
		onnx_row_find(NULL, "AveragePool", ONNX_OPSET, &first);

	if (onnx_attr_int(n, "channels_last", 0) != 0)
		return onnx_fail(n, "channels_last cannot be read");
	if (onnx_attr_int(n, "ceil_mode", 0) != 0 &&
	    onnx_attr_int(n, "count_include_pad", 0) != 0)
		return onnx_fail(n, "ceil_mode with count_include_pad cannot be read");
	struct onnx_made made = of_steps(n, "Pooling");
	if (made.n.node == NULL || onnx_set_int(&made.n, "alg", 1) != 0 ||
	    onnx_set_int(&made.n, "ceil_mode", onnx_attr_int(n, "ceil_mode", 0)) != 0 ||
	    pool->load(&made.n) != 0)
		return -1;
	return finish_steps(n, &made);
}

/* Inputs: scale and zero point of the output, then each input with its own. */
static int load_concat(struct onnx_node *n)
{
	modser_sg_tensor *like = onnx_input(n, 2);
	modser_sg_tensor *first = dequantized(n, 2, 1);

	if (first == NULL)
		return -1;
	const struct onnx_made made = onnx_make(n, "Concat", first, NULL, NULL);
	if (made.n.node == NULL ||
	    onnx_set_int(&made.n, "axis", onnx_attr_int(n, "axis", 0)) != 0)
		return -1;
	for (size_t k = 5; k < n->node->n_inputs; k += 3) {
		modser_sg_tensor *x = dequantized(n, k, 1);

		if (x == NULL || modser_sg_node_add_input(made.n.node, x) < 0)
			return -1;
	}
	return quantize(n, made.out, onnx_input(n, 0), onnx_input(n, 1), like);
}

static int load_where(struct onnx_node *n)
{
	modser_sg_tensor *like = onnx_input(n, 1);
	modser_sg_tensor *x = dequantized(n, 1, 1);
	modser_sg_tensor *y = x != NULL ? dequantized(n, 4, 1) : NULL;

	if (y == NULL || onnx_input(n, 0) == NULL)
		return y == NULL ? -1 : onnx_fail(n, "it has no condition");
	const struct onnx_made made = onnx_make(n, "Where", onnx_input(n, 0), x, NULL);
	if (made.n.node == NULL || modser_sg_node_add_input(made.n.node, y) < 0)
		return -1;
	return quantize(n, made.out, onnx_input(n, 7), onnx_input(n, 8), like);
}

/* The addend of a Gemm has the product of both scales: times them it is a float. */
static modser_sg_tensor *addend_of(const struct onnx_node *n, float alpha)
{
	const struct onnx_made cast =
		onnx_make(n, "Cast", onnx_input(n, 6), NULL, NULL);
	const struct onnx_made once =
		onnx_make(n, "Mul", cast.out, onnx_input(n, 1), NULL);
	const struct onnx_made twice =
		onnx_make(n, "Mul", once.out, onnx_input(n, 4), NULL);
	const struct onnx_made scaled = onnx_make(n, "Mul", twice.out, NULL, NULL);

	return scaled.n.node != NULL && cast.n.node != NULL &&
			       onnx_set_text(&cast.n, "to", "float32") == 0 &&
			       onnx_add_float(&scaled.n, 1, alpha) == 0
		       ? scaled.out
		       : NULL;
}

/* Let the node return @value, which stays a float. */
static int pass_on(struct onnx_node *n, modser_sg_tensor *value)
{
	modser_sg_op *op = modser_sg_op_create(n->l->g, "Noop");

	if (op == NULL)
		return -1;
	msd_sg_node_take_op(n->node, op);
	n->op = op;
	n->node->n_inputs = 0;
	return modser_sg_node_add_input(n->node, value) < 0 ? -1 : 0;
}

static int load_gemm(struct onnx_node *n)
{
	const Onnx__AttributeProto *given = onnx_attr(n, "alpha");
	const modser_sg_attr alpha = {.kind = MODSER_ATTR_FLOAT,
				      .as.f = given != NULL ? given->f : 1};
	const int64_t is_b = onnx_attr_int(n, "transB", 0);
	modser_sg_tensor *like = onnx_input(n, 0);
	modser_sg_tensor *a = dequantized(n, 0, 1);
	modser_sg_tensor *b = a != NULL ? dequantized(n, 3, is_b != 0 ? 0 : 1) : NULL;

	if (b == NULL)
		return -1;
	const struct onnx_made made = onnx_make(n, "Gemm", a, b, NULL);
	if (made.n.node == NULL ||
	    modser_sg_op_set_param(made.n.op, "alpha", &alpha) != 0 ||
	    onnx_set_int(&made.n, "transA", onnx_attr_int(n, "transA", 0)) != 0 ||
	    onnx_set_int(&made.n, "transB", is_b) != 0)
		return -1;
	if (onnx_input(n, 6) != NULL) {
		modser_sg_tensor *c = addend_of(n, alpha.as.f);

		if (c == NULL || onnx_put_input(&made.n, 2, c) != 0)
			return -1;
	}
	if (onnx_input(n, 7) == NULL && onnx_input(n, 8) == NULL)
		return pass_on(n, made.out);
	return quantize(n, made.out, onnx_input(n, 7), onnx_input(n, 8), like);
}

const struct onnx_row onnx_rows_microsoft_q[] = {
	{"DequantizeLinear", 1, "DequantizeLinear", "axis", NULL},
	{"QGemm", 1, "QuantizeLinear", "-alpha -transA -transB", load_gemm},
	{"QLinearAdd", 1, "QuantizeLinear", "", load_add},
	{"QLinearAveragePool", 1, "QuantizeLinear",
	 "-auto_pad -ceil_mode -channels_last -count_include_pad -kernel_shape -pads "
	 "-strides",
	 load_average_pool},
	{"QLinearConcat", 1, "QuantizeLinear", "-axis", load_concat},
	{"QLinearGlobalAveragePool", 1, "QuantizeLinear", "-channels_last",
	 load_global_pool},
	{"QLinearLeakyRelu", 1, "QuantizeLinear", "-alpha", load_leaky_relu},
	{"QLinearMul", 1, "QuantizeLinear", "", load_mul},
	{"QLinearReduceMean", 1, "QuantizeLinear", "-axes -keepdims", load_reduce_mean},
	{"QLinearSigmoid", 1, "QuantizeLinear", "", load_sigmoid},
	{"QLinearSoftmax", 1, "QuantizeLinear", "-axis -opset", load_softmax},
	{"QLinearWhere", 1, "QuantizeLinear", "", load_where},
	{"QuantizeLinear", 1, "QuantizeLinear", "axis", NULL},
	{0},
};
