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

/* The output has the element type of the scale, unless the attribute names one. */
static int load_dequantize(struct onnx_node *n)
{
	return onnx_attr_int(n, "output_dtype", 0) != 0
		       ? onnx_set_dtype(n, "output_dtype", "output_dtype")
		       : 0;
}

const struct onnx_row onnx_rows_quantized[] = {
	{"DequantizeLinear", 10, "DequantizeLinear", "axis", NULL},
	{"DequantizeLinear", 21, "DequantizeLinear", "axis block_size", NULL},
	{"DequantizeLinear", 23, "DequantizeLinear", "axis block_size -output_dtype",
	 load_dequantize},
	{"DynamicQuantizeLinear", 11, "DynamicQuantizeLinear", "", NULL},
	{"MatMulInteger", 10, "MatMulInteger", "", NULL},
	{"QLinearMatMul", 10, "QLinearMatMul", "", NULL},
	{"QuantizeLinear", 10, "QuantizeLinear", "axis", NULL},
	{"QuantizeLinear", 19, "QuantizeLinear", "axis saturate", NULL},
	{"QuantizeLinear", 21, "QuantizeLinear",
	 "axis block_size saturate -output_dtype", load_quantize},
	{"QuantizeLinear", 23, "QuantizeLinear",
	 "axis block_size saturate -output_dtype -precision", load_quantize},
	{0},
};
