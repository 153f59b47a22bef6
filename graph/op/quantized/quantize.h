#ifndef MSD_GRAPH_OP_QUANTIZE_H
#define MSD_GRAPH_OP_QUANTIZE_H
/* Checks that matrix products share, and checks that integer products share. */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

/* Operators that the pass `quantize` makes (graph/op/quantized/made.c), of MatMul and
 * Gemm; of Add, Sub and Mul; of functions of one tensor; and of Pooling. Inputs are
 * those of QLinearMatMul, limits of the values, and perhaps a bias. */
#define MSD_QUANTIZED_MAT_MUL "QuantizedMatMul"
#define MSD_QUANTIZED_BINARY "QuantizedBinary"
#define MSD_QUANTIZED_TABLE "QuantizedTable"
#define MSD_QUANTIZED_POOLING "QuantizedPooling"
enum msd_quantized_kind {
	MSD_QUANTIZED_ADD,
	MSD_QUANTIZED_SUB,
	MSD_QUANTIZED_MUL,
	MSD_QUANTIZED_KINDS
};

/**
 * Set the extents of the product of inputs 0 and @b, by numpy's rules: vectors become
 * matrices temporarily, axes before the last two are broadcast.
 */
MSD_MUST_CHECK int msd_op_mat_mul_extents(const modser_sg_node *node, size_t b);
/** The index of the second matrix. */
size_t msd_op_quantized_b(const modser_sg_node *node);
/** Check that input @i has 8-bit integers. */
MSD_MUST_CHECK int msd_op_check_bytes(const modser_sg_node *node, size_t i);
/**
 * Check that input @i, scales or zero points, is one number or one for each of @n; it
 * may be omitted.
 */
MSD_MUST_CHECK int msd_op_check_each(const modser_sg_node *node, size_t i, int64_t n);

#endif
