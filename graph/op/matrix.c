/* Products of matrices, and convolutions that have no inference yet. */
#include "graph/op/op.h"

static const modser_sg_op_field deconvolution_fields[] = {
	OP_INT("num_output", 1, 0),     OP_INT("kernel_h", 1, 4),
	OP_INT("kernel_w", 1, 8),       OP_INT("stride_h", 1, 12),
	OP_INT("stride_w", 1, 16),      OP_INT("pad_w0", 0, 20),
	OP_INT("pad_h0", 0, 24),        OP_INT("pad_w1", 0, 28),
	OP_INT("pad_h1", 0, 32),        OP_INT("dilation_h", 1, 36),
	OP_INT("dilation_w", 1, 40),    OP_INT("group", 1, 44),
	OP_INT("activation", -1, 48),   OP_INT("output_pad_h0", 0, 52),
	OP_INT("output_pad_w0", 0, 56),
};
const modser_sg_op_schema msd_op_deconvolution = {
	.name = "Deconvolution",
	OP_FIELDS(deconvolution_fields),
	OP_IN(2, 3),
	OP_OUT(1, 1),
	OP_TM(6, 60),
};

static const modser_sg_op_field gemm_fields[] = {
	OP_FLOAT("alpha", 1, 0),
	OP_FLOAT("beta", 1, 4),
	OP_INT("transA", 0, 8),
	OP_INT("transB", 0, 12),
};
const modser_sg_op_schema msd_op_gemm = {
	.name = "Gemm",
	OP_FIELDS(gemm_fields),
	OP_IN(2, 3),
	OP_OUT(1, 1),
	OP_TM(31, 16),
};

const modser_sg_op_schema msd_op_mat_mul = {
	.name = "MatMul",
	OP_IN(2, 3),
	OP_OUT(1, 1),
	OP_TM(91, 0),
};

static const modser_sg_op_field embedding_fields[] = {
	OP_INT("num_output", 0, 0),
	OP_INT("input_dim", 0, 4),
	OP_INT("bias_term", 0, 8),
	OP_INT("weight_data_size", 0, 12),
};
const modser_sg_op_schema msd_op_embedding = {
	.name = "Embedding",
	OP_FIELDS(embedding_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	OP_TM(65, 16),
};
