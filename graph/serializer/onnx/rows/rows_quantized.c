/* Quantized numbers and their products. */
#include "graph/serializer/onnx/dtype.h"
#include "graph/serializer/onnx/rows/row.h"

static int load_quantize(struct onnx_node *n)
{
	const int64_t type = onnx_attr_int(n, "output_dtype", 0);
	const char *name = type != 0 ? onnx_dtype_name((int32_t)type) : "";

	if (name == NULL) {
		return onnx_fail(n, "element type %lld cannot be made",
				 (long long)type);
	}
	return onnx_set_text(n, "output_dtype", name);
}

const struct onnx_row onnx_rows_quantized[] = {
	{"DequantizeLinear", 10, "DequantizeLinear", "axis", NULL},
	{"DequantizeLinear", 21, "DequantizeLinear", "axis block_size", NULL},
	{"DynamicQuantizeLinear", 11, "DynamicQuantizeLinear", "", NULL},
	{"MatMulInteger", 10, "MatMulInteger", "", NULL},
	{"QLinearMatMul", 10, "QLinearMatMul", "", NULL},
	{"QuantizeLinear", 10, "QuantizeLinear", "axis", NULL},
	{"QuantizeLinear", 19, "QuantizeLinear", "axis saturate", NULL},
	{"QuantizeLinear", 21, "QuantizeLinear",
	 "axis block_size saturate -output_dtype", load_quantize},
	{0},
};
