/* Operators that name the type of their elements, which ONNX says by a number. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/dtype.h"
#include "graph/serializer/onnx/emit.h"
#include "graph/serializer/onnx/out.h"

static int store_typed(const struct onnx_out *o)
{
	const char *name = modser_sg_op_param(o->op, "dtype")->as.s;
	const struct onnx_row *row = onnx_row_of_op(o->op);
	const int32_t number = onnx_dtype_number(name);
	const bool is_like = strcmp(o->op->schema->name, "EyeLike") == 0;

	if (row == NULL)
		return onnx_out_fail(o, "ONNX of opset 17 has no such operator");
	if (number == 0 && name[0] != '\0')
		return onnx_out_fail(o, "opset 17 has no such elements");
	Onnx__NodeProto *node = onnx_out_by_row(o, row);
	if (number != 0) {
		onnx_emit_int(o->e, node, is_like ? "dtype" : "output_datatype",
			      number);
	}
	return 0;
}

const struct onnx_form onnx_forms_dtype[] = {
	{"BlackmanWindow", store_typed},  {"EyeLike", store_typed},
	{"HammingWindow", store_typed},   {"HannWindow", store_typed},
	{"MelWeightMatrix", store_typed}, {NULL, NULL},
};
