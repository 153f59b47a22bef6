#ifndef MSD_ONNX_OUT_H
#define MSD_ONNX_OUT_H
/* A node on its way into an ONNX model, and what its form is written with. */
#include "graph/serializer/onnx/row.h"

struct onnx_out {
	struct onnx_emit *e;
	const modser_sg_node *node;
	const modser_sg_op *op;
};

/* How an operator of ours is written that its rows alone do not tell: what Tengine has
 * and ONNX has not, lists that are inputs there, fields that are lists. */
struct onnx_form {
	const char *op;
	int (*store)(const struct onnx_out *o);
};
/** Each list ends with a form without a name. */
extern const struct onnx_form onnx_forms_dtype[];
extern const struct onnx_form onnx_forms_flow[];
extern const struct onnx_form onnx_forms_window[];
extern const struct onnx_form onnx_forms_layer[];
extern const struct onnx_form onnx_forms_move[];
/** All of them, ended by NULL. */
extern const struct onnx_form *const onnx_forms[];

/** Say why @o cannot be written. Returns -1. */
int onnx_out_fail(const struct onnx_out *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** The row by which @op is written: of the opset that is written, its fixed parameters
 * as they are. NULL: none. */
const struct onnx_row *onnx_row_of_op(const modser_sg_op *op);
/** A node by @row, with all inputs, outputs and attributes. NULL: see onnx_emit, or the
 * graph's error: a parameter that ONNX does not have. */
Onnx__NodeProto *onnx_out_by_row(const struct onnx_out *o, const struct onnx_row *row);
/** A node @op of input 0 and output 0 alone. */
Onnx__NodeProto *onnx_out_node(const struct onnx_out *o, const char *op);
/** Names of input and output @i; "" when it is left out. */
char *onnx_out_input(const struct onnx_out *o, size_t i);
char *onnx_out_output(const struct onnx_out *o, size_t i);
/** All parameters but those in @handled, divided by spaces, are at their defaults. */
MSD_MUST_CHECK int onnx_out_check(const struct onnx_out *o, const char *handled);
/** Is @word one of @list, which spaces divide? */
bool onnx_out_is_word(const char *list, const char *word);
/** Dimensions of input @i; -1 while they are not known. */
int onnx_out_ndim(const struct onnx_out *o, size_t i);
/** Write it, by its form or by its row. */
MSD_MUST_CHECK int onnx_out_put(const struct onnx_out *o);

#endif
