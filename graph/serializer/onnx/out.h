#ifndef MSD_ONNX_OUT_H
#define MSD_ONNX_OUT_H
/* State of writing a node as ONNX, and helpers for forms. */
#include "graph/serializer/onnx/rows/row.h"

struct onnx_out {
	struct onnx_emit *e;
	const modser_sg_node *node;
	const modser_sg_op *op;
};

/* A form writes an operator that rows alone cannot: features of Tengine that ONNX
 * lacks, lists that are inputs in ONNX, fields that are lists. */
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
extern const struct onnx_form onnx_forms_detect[];
/** All of them, ended by NULL. */
extern const struct onnx_form *const onnx_forms[];

/** Record why @o cannot be written. Returns -1. */
int onnx_out_fail(const struct onnx_out *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/**
 * The row that writes @op, in the written opset, with matching fixed parameters. NULL
 * if none.
 */
const struct onnx_row *onnx_row_of_op(const modser_sg_op *op);
/**
 * Write a node by @row, with all inputs, outputs and attributes. NULL: see onnx_emit,
 * or the graph's error: a parameter that ONNX does not have.
 */
Onnx__NodeProto *onnx_out_by_row(const struct onnx_out *o, const struct onnx_row *row);
/** Write a node @op with only input 0 and output 0. */
Onnx__NodeProto *onnx_out_node(const struct onnx_out *o, const char *op);
/** Names of input and output @i; "" if omitted. */
char *onnx_out_input(const struct onnx_out *o, size_t i);
char *onnx_out_output(const struct onnx_out *o, size_t i);
/**
 * Check that all parameters except those in @handled, separated by spaces, have their
 * defaults.
 */
MSD_MUST_CHECK int onnx_out_check(const struct onnx_out *o, const char *handled);
/** True if @word is in @list, which is separated by spaces. */
bool onnx_out_is_word(const char *list, const char *word);
/** Dimensions of input @i; -1 while they are not known. */
int onnx_out_ndim(const struct onnx_out *o, size_t i);
/** Write the node, by its form or by its row. */
MSD_MUST_CHECK int onnx_out_put(const struct onnx_out *o);

#endif
