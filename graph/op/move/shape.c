/* Operators that move elements or return shapes. */
#include "graph/op/op.h"

static const modser_sg_op_field bilinear_resize_fields[] = {
	OP_FLOAT("scale_x", 1),
	OP_FLOAT("scale_y", 1),
	OP_INT("type", 0),
};
const modser_sg_op_schema msd_op_bilinear_resize = {
	.name = "BilinearResize",
	OP_FIELDS(bilinear_resize_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
};

static const modser_sg_op_field generic_fields[] = {
	OP_INT("max_input_num", 0),
	OP_INT("max_output_num", 0),
	OP_TEXT("op_name"),
};
const modser_sg_op_schema msd_op_generic = {
	.name = "Generic",
	OP_FIELDS(generic_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
};

static const modser_sg_op_field strided_slice_fields[] = {
	OP_INT("begin_n", 0), OP_INT("end_n", 0), OP_INT("stride_n", 1),
	OP_INT("begin_c", 0), OP_INT("end_c", 0), OP_INT("stride_c", 1),
	OP_INT("begin_h", 0), OP_INT("end_h", 0), OP_INT("stride_h", 1),
	OP_INT("begin_w", 0), OP_INT("end_w", 0), OP_INT("stride_w", 1),
};
const modser_sg_op_schema msd_op_strided_slice = {
	.name = "StridedSlice",
	OP_FIELDS(strided_slice_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
};

static const modser_sg_op_field swap_axis_fields[] = {
	OP_INT("dim_0", 0),
	OP_INT("dim_1", 1),
};
const modser_sg_op_schema msd_op_swap_axis = {
	.name = "SwapAxis",
	OP_FIELDS(swap_axis_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
};

static const modser_sg_op_field space_to_batch_nd_fields[] = {
	OP_INT("dilation_x", 1), OP_INT("dilation_y", 1), OP_INT("pad_top", 0),
	OP_INT("pad_bottom", 0), OP_INT("pad_left", 0),   OP_INT("pad_right", 0),
};
const modser_sg_op_schema msd_op_space_to_batch_nd = {
	.name = "SpaceToBatchND",
	OP_FIELDS(space_to_batch_nd_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
};

static const modser_sg_op_field batch_to_space_nd_fields[] = {
	OP_INT("dilation_x", 1),  OP_INT("dilation_y", 1), OP_INT("crop_top", 0),
	OP_INT("crop_bottom", 0), OP_INT("crop_left", 0),  OP_INT("crop_right", 0),
};
const modser_sg_op_schema msd_op_batch_to_space_nd = {
	.name = "BatchToSpaceND",
	OP_FIELDS(batch_to_space_nd_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
};

static const modser_sg_op_field expanddims_fields[] = {
	OP_INT("axis", 0),
};
const modser_sg_op_schema msd_op_expanddims = {
	.name = "Expanddims",
	OP_FIELDS(expanddims_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
};

const modser_sg_op_schema msd_op_reverse = {
	.name = "Reverse",
	OP_IN(1, 2),
	OP_OUT(1, 1),
};

static const modser_sg_op_field sparse_to_dense_fields[] = {
	OP_INT("output_shape_size0", 0),
	OP_INT("output_shape_size1", 0),
	OP_INT("default_value", 0),
};
const modser_sg_op_schema msd_op_sparse_to_dense = {
	.name = "SparseToDense",
	OP_FIELDS(sparse_to_dense_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
};
