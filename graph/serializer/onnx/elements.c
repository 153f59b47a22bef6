/*
 * Element types that operators support only after the written opset. The engine runs
 * them, but ONNX's checker would reject a file of opset 17 with them, without naming
 * a solution or the right opset. So the writer rejects them here.
 */
#include "graph/serializer/onnx/elements.h"

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/format.h"

#define ALL UINT32_MAX
#define AT(i) (UINT32_C(1) << (i))

/* Words separated by spaces; inputs and outputs as bits, the last bit for all that
 * follow. */
static const struct later {
	const char *names;
	const char *types;
	uint32_t inputs;
	uint32_t outputs;
	int since;
} laters[] = {
	{"QuantizeLinear", "float16 bfloat16", AT(0), 0, 19},
	{"QuantizeLinear", "float16 bfloat16 int32", AT(1), 0, 19},
	{"QuantizeLinear", "int16 uint16", AT(2), AT(0), 21},
	{"DequantizeLinear", "int16 uint16", AT(0) | AT(2), 0, 21},
	{"DequantizeLinear", "float16 bfloat16", AT(1), AT(0), 19},
	{"QLinearMatMul", "float16 bfloat16", AT(1) | AT(4) | AT(6), 0, 21},
	{"ReduceMax ReduceMin", "bool", AT(0), AT(0), 20},
	{"Dropout", "bfloat16", AT(1), 0, 22},
	{"Acos Acosh Asin Asinh Atan Atanh Cos Cosh Sin Sinh Tan Round Det EyeLike Elu "
	 "HardSigmoid HardSwish Selu Softplus Softsign ThresholdedRelu AveragePool "
	 "LpPool MaxPool MaxUnpool GlobalAveragePool GlobalMaxPool Conv ConvTranspose "
	 "InstanceNormalization LpNormalization NegativeLogLikelihoodLoss GridSample "
	 "RoiAlign RNN GRU LSTM",
	 "bfloat16", ALL, ALL, 22},
};

static int check_ends(const struct onnx_out *o, const char *name,
		      const struct later *later, bool is_input)
{
	modser_sg_tensor **ends = is_input ? o->node->inputs : o->node->outputs;
	const size_t n = is_input ? o->node->n_inputs : o->node->n_outputs;
	const uint32_t which = is_input ? later->inputs : later->outputs;

	for (size_t i = 0; i < n; i++) {
		if ((which & AT(i < 31 ? i : 31)) == 0 || ends[i] == NULL ||
		    !onnx_out_is_word(later->types, ends[i]->dtype_name))
			continue;
		return onnx_out_fail(o,
				     "%s of opset %d takes no %s as its %s %zu; that "
				     "of opset %d does",
				     name, ONNX_OPSET, ends[i]->dtype_name,
				     is_input ? "input" : "output", i, later->since);
	}
	return 0;
}

int onnx_elements_check(const struct onnx_out *o, const char *name)
{
	for (size_t i = 0; i < sizeof(laters) / sizeof(laters[0]); i++) {
		if (onnx_out_is_word(laters[i].names, name) &&
		    (check_ends(o, name, &laters[i], true) != 0 ||
		     check_ends(o, name, &laters[i], false) != 0))
			return -1;
	}
	return 0;
}
