/* Operators that read and write elements by index or position. */
#include "graph/serializer/onnx/rows/row.h"

static int load_eye_like(struct onnx_node *n)
{
	return onnx_set_dtype(n, "dtype", "dtype");
}

const struct onnx_row onnx_rows_index[] = {
	{"Compress", 9, "Compress", "axis", NULL},
	{"CumProd", 26, "CumSum", "exclusive reverse product:=1", NULL},
	{"CumSum", 11, "CumSum", "exclusive reverse product:=0", NULL},
	{"EyeLike", 9, "EyeLike", "-dtype k", load_eye_like},
	{"GatherElements", 11, "GatherElements", "axis", NULL},
	{"GatherND", 11, "GatherND", "batch_dims", NULL},
	{"NonZero", 9, "NonZero", "", NULL},
	{"OneHot", 9, "OneHot", "axis", NULL},
	{"Range", 11, "Range", "", NULL},
	{"Range", 27, "Range", "-stash_type", NULL},
	{"ReverseSequence", 10, "ReverseSequence", "batch_axis time_axis", NULL},
	{"ScatterElements", 11, "Scatter", "axis reduction is_onnx:=1", NULL},
	{"Scatter", 9, "Scatter", "axis is_onnx:=1", NULL},
	{"ScatterND", 11, "ScatterND", "reduction", NULL},
	{"Size", 1, "Size", "", NULL},
	{"TensorScatter", 24, "TensorScatter", "axis mode", NULL},
	{"Trilu", 14, "Trilu", "upper", NULL},
	{"Unique", 11, "Unique", "axis sorted", NULL},
	{0},
};
