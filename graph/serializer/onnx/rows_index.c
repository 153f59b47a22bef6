/* What takes and puts elements by indices and by their place. */
#include "graph/serializer/onnx/dtype.h"
#include "graph/serializer/onnx/row.h"

static int load_eye_like(struct onnx_node *n)
{
	const int64_t type = onnx_attr_int(n, "dtype", 0);
	const char *name = onnx_dtype_name((int32_t)type);

	if (onnx_attr(n, "dtype") == NULL)
		return 0;
	if (name == NULL) {
		return onnx_fail(n, "element type %lld cannot be made",
				 (long long)type);
	}
	return onnx_set_text(n, "dtype", name);
}

const struct onnx_row onnx_rows_index[] = {
	{"Compress", 9, "Compress", "axis", NULL},
	{"CumSum", 11, "CumSum", "exclusive reverse", NULL},
	{"EyeLike", 9, "EyeLike", "-dtype k", load_eye_like},
	{"GatherElements", 11, "GatherElements", "axis", NULL},
	{"GatherND", 11, "GatherND", "batch_dims", NULL},
	{"NonZero", 9, "NonZero", "", NULL},
	{"OneHot", 9, "OneHot", "axis", NULL},
	{"Range", 11, "Range", "", NULL},
	{"ReverseSequence", 10, "ReverseSequence", "batch_axis time_axis", NULL},
	{"ScatterElements", 11, "Scatter", "axis reduction is_onnx:=1", NULL},
	{"Scatter", 9, "Scatter", "axis is_onnx:=1", NULL},
	{"ScatterND", 11, "ScatterND", "reduction", NULL},
	{"Size", 1, "Size", "", NULL},
	{"Trilu", 14, "Trilu", "upper", NULL},
	{0},
};
