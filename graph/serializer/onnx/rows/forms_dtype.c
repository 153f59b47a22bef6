/* Operators with an element type parameter, which ONNX stores as a number, and
 * operators whose elements must be cast first. */
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

/* IsInf of opset 17 accepts only 32- and 64-bit floats. Narrower floats are cast to
 * 32 bits, which keeps infinity. */
static int store_is_inf(const struct onnx_out *o)
{
	const struct onnx_row *row = onnx_row_of_op(o->op);
	const modser_sg_tensor *x = o->node->n_inputs > 0 ? o->node->inputs[0] : NULL;
	const bool is_short =
		x != NULL && onnx_out_is_word("float16 bfloat16", x->dtype_name);
	Onnx__NodeProto *cast = NULL;

	if (is_short) {
		cast = onnx_emit_node(o->e, "Cast", o->node->name);
		onnx_emit_in(o->e, cast, onnx_out_input(o, 0));
		onnx_emit_out(o->e, cast, onnx_emit_name(o->e, o->node->name));
		onnx_emit_int(o->e, cast, "to", onnx_dtype_number("float32"));
	}
	Onnx__NodeProto *node = onnx_out_by_row(o, row);
	if (cast != NULL && node != NULL && cast->n_output == 1 && node->n_input > 0)
		node->input[0] = cast->output[0];
	return 0;
}

const struct onnx_form onnx_forms_dtype[] = {
	{"BlackmanWindow", store_typed},
	{"EyeLike", store_typed},
	{"HammingWindow", store_typed},
	{"HannWindow", store_typed},
	{"IsInf", store_is_inf},
	{"MelWeightMatrix", store_typed},
	{NULL, NULL},
};
