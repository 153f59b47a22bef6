#ifndef MSD_GRAPH_OP_QUANTIZE_H
#define MSD_GRAPH_OP_QUANTIZE_H
/* What products of matrices share, and what products of integers do. */
#include "graph/modser_graph.h"
#include "proto/err.h"

/** Set the extents of the product of inputs 0 and @b, as numpy has it: vectors become
 * matrices for the time, axes before the last two are stretched. */
MSD_MUST_CHECK int msd_op_mat_mul_extents(const modser_sg_node *node, size_t b);
/** Which input is the second matrix. */
size_t msd_op_quantized_b(const modser_sg_node *node);
/** Input @i is of integers of 8 bits. */
MSD_MUST_CHECK int msd_op_check_bytes(const modser_sg_node *node, size_t i);
/** Input @i, scales or zero points, is one number or one for each of @n; it may be left
 * out. */
MSD_MUST_CHECK int msd_op_check_each(const modser_sg_node *node, size_t i, int64_t n);

#endif
