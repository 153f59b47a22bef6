/* Element-wise operators. */
#include "graph/serializer/onnx/dtype.h"
#include "graph/serializer/onnx/rows/row.h"

/* Up to opset 6 "axis" aligns the first axis of input 1 with an axis of input 0; the
 * axes after it become axes of extent 1. */
static int load_stretched(struct onnx_node *n)
{
	int64_t axes[MODSER_GRAPH_MAX_NDIM];
	const int a = onnx_input_ndim(n, 0);
	const int b = onnx_input_ndim(n, 1);
	int64_t axis = onnx_attr_int(n, "axis", -1);
	size_t count = 0;

	if (onnx_attr_int(n, "broadcast", 0) == 0 || onnx_attr(n, "axis") == NULL)
		return 0;
	if (a < 0 || b < 0)
		return onnx_fail(n, "the shapes of its inputs are not known");
	axis = axis < 0 ? axis + a : axis;
	for (int64_t i = b; i < a - axis; i++)
		axes[count++] = i;
	return count > 0 ? onnx_insert(n, 1, "Unsqueeze", "axes", axes, count) : 0;
}

/* A text in opset 1. */
static int load_cast(struct onnx_node *n)
{
	const Onnx__AttributeProto *to = onnx_attr(n, "to");
	const char *name = onnx_dtype_name((int32_t)to->i);
	char lower[32];
	size_t i = 0;

	if (to->has_s) {
		for (; i < to->s.len && i + 1 < sizeof(lower); i++)
			lower[i] = (char)(to->s.data[i] | 0x20);
		lower[i] = '\0';
		name = lower;
		if (to->s.len == 5 && lower[0] == 'f')
			name = "float32";
		if (to->s.len == 6 && lower[0] == 'd')
			name = "float64";
	}
	if (name == NULL) {
		return onnx_fail(n, "element type %lld cannot be made",
				 (long long)to->i);
	}
	return onnx_set_text(n, "to", name);
}

/* Up to opset 22 the directions of a shift are texts. */
static int load_shift(struct onnx_node *n)
{
	if (onnx_attr_is(n, "direction", "LEFT"))
		return onnx_set_int(n, "type", 3);
	if (onnx_attr_is(n, "direction", "RIGHT"))
		return onnx_set_int(n, "type", 4);
	return onnx_fail(n, "its direction is not known");
}

#define OLD "-axis -broadcast"
const struct onnx_row onnx_rows_element[] = {
	{"Abs", 1, "Absval", "", NULL},
	{"Acos", 7, "Acos", "", NULL},
	{"Acosh", 9, "Acosh", "", NULL},
	{"Add", 1, "Add", OLD, load_stretched},
	{"Add", 7, "Add", "", NULL},
	{"And", 1, "Logical", OLD " type:=0", load_stretched},
	{"And", 7, "Logical", "type:=0", NULL},
	{"Asin", 7, "Asin", "", NULL},
	{"Asinh", 9, "Asinh", "", NULL},
	{"Atan", 7, "Atan", "", NULL},
	{"Atanh", 9, "Atanh", "", NULL},
	{"BitCast", 26, "BitCast", "-to!", load_cast},
	{"BitShift", 11, "Bitwise", "-direction!", load_shift},
	{"BitwiseAnd", 18, "Bitwise", "type:=0", NULL},
	{"BitwiseNot", 18, "BitwiseNot", "", NULL},
	{"BitwiseOr", 18, "Bitwise", "type:=1", NULL},
	{"BitwiseXor", 18, "Bitwise", "type:=2", NULL},
	{"Cast", 1, "Cast", "-to!", load_cast},
	{"Cast", 19, "Cast", "-to! saturate", load_cast},
	{"Cast", 24, "Cast", "-to! saturate round_mode", load_cast},
	{"CastLike", 15, "CastLike", "", NULL},
	{"CastLike", 19, "CastLike", "saturate", NULL},
	{"CastLike", 24, "CastLike", "saturate round_mode", NULL},
	{"Ceil", 1, "Ceil", "", NULL},
	{"Celu", 12, "Celu", "alpha:1", NULL},
	{"Clip", 1, "Clip", "max min", NULL},
	{"Clip", 11, "Clip", "", NULL},
	{"Cos", 7, "Cos", "", NULL},
	{"Cosh", 9, "Cosh", "", NULL},
	{"Div", 1, "Div", OLD, load_stretched},
	{"Div", 7, "Div", "", NULL},
	{"Elu", 1, "Elu", "alpha:1", NULL},
	{"Equal", 1, "Comparison", OLD " type:=0", load_stretched},
	{"Equal", 7, "Comparison", "type:=0", NULL},
	{"Erf", 9, "Erf", "", NULL},
	{"Exp", 1, "Exp", "", NULL},
	{"Floor", 1, "Floor", "", NULL},
	{"Gelu", 20, "Gelu", "approximate", NULL},
	{"Greater", 1, "Comparison", OLD " type:=2", load_stretched},
	{"Greater", 7, "Comparison", "type:=2", NULL},
	{"GreaterOrEqual", 12, "Comparison", "type:=3", NULL},
	{"HardSigmoid", 1, "Hardsigmoid", "alpha:0.2 beta:0.5", NULL},
	{"HardSwish", 14, "HardSwish", "alpha:=0.16666666666666666 beta:=0.5", NULL},
	{"Identity", 1, "Noop", "", NULL},
	{"IsInf", 10, "IsInf", "detect_negative detect_positive", NULL},
	{"IsNaN", 9, "IsNaN", "", NULL},
	{"LeakyRelu", 1, "ReLu", "alpha=negative_slope:0.01", NULL},
	{"Less", 1, "Comparison", OLD " type:=4", load_stretched},
	{"Less", 7, "Comparison", "type:=4", NULL},
	{"LessOrEqual", 12, "Comparison", "type:=5", NULL},
	{"Log", 1, "Log", "", NULL},
	{"Max", 1, "Maximum", "", NULL},
	{"Mean", 1, "Mean", "", NULL},
	{"Min", 1, "Minimum", "", NULL},
	{"Mish", 18, "Mish", "", NULL},
	{"Mod", 10, "Mod", "fmod", NULL},
	{"Mul", 1, "Mul", OLD, load_stretched},
	{"Mul", 7, "Mul", "", NULL},
	{"Neg", 1, "Neg", "", NULL},
	{"Not", 1, "Not", "", NULL},
	{"Or", 1, "Logical", OLD " type:=1", load_stretched},
	{"Or", 7, "Logical", "type:=1", NULL},
	{"PRelu", 1, "PReLU", "broadcasts:=0", NULL},
	{"PRelu", 7, "PReLU", "broadcasts:=1", NULL},
	{"Pow", 1, "Pow", OLD, load_stretched},
	{"Pow", 7, "Pow", "", NULL},
	{"Reciprocal", 1, "Reciprocal", "", NULL},
	{"Relu", 1, "ReLu", "negative_slope:=0", NULL},
	{"Round", 11, "Round", "", NULL},
	{"Selu", 1, "Selu", "alpha:1.6732 gamma=lambda:1.0507", NULL},
	{"Selu", 6, "Selu",
	 "alpha:1.67326319217681885 gamma=lambda:1.05070102214813232", NULL},
	{"Shrink", 9, "Shrink", "bias lambd", NULL},
	{"Sigmoid", 1, "Sigmoid", "", NULL},
	{"Sign", 9, "Sign", "", NULL},
	{"Sin", 7, "Sin", "", NULL},
	{"Sinh", 9, "Sinh", "", NULL},
	{"Softplus", 1, "Softplus", "", NULL},
	{"Softsign", 1, "Softsign", "", NULL},
	{"Sqrt", 1, "Sqrt", "", NULL},
	{"Sub", 1, "Sub", OLD, load_stretched},
	{"Sub", 7, "Sub", "", NULL},
	{"Sum", 1, "Addn", "", NULL},
	{"SwiGLU", 28, "Swish", "alpha", NULL},
	{"Swish", 24, "Swish", "alpha", NULL},
	{"Tan", 7, "Tan", "", NULL},
	{"Tanh", 1, "Tanh", "", NULL},
	{"ThresholdedRelu", 10, "ThresholdedRelu", "alpha", NULL},
	{"Where", 9, "Where", "", NULL},
	{"Xor", 1, "Logical", OLD " type:=2", load_stretched},
	{"Xor", 7, "Logical", "type:=2", NULL},
	{0},
};
