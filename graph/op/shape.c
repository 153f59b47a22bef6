/*
 * Schemas of what moves elements or tells shapes: read, written, shown. They have no
 * inference yet, so a model with one of them is not run.
 */
#include "graph/op/op.h"

static const modser_sg_op_field bilinear_resize_fields[] = {
	OP_FLOAT("scale_x", 1, 0),
	OP_FLOAT("scale_y", 1, 4),
	OP_INT("type", 0, 8),
};
const modser_sg_op_schema msd_op_bilinear_resize = {
	.name = "BilinearResize",
	OP_FIELDS(bilinear_resize_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(2, 12),
};

static const modser_sg_op_field resize_fields[] = {
	OP_FLOAT("scale_x", 1, 0),
	OP_FLOAT("scale_y", 1, 4),
	OP_INT("type", 0, 8),
};
const modser_sg_op_schema msd_op_resize = {
	.name = "Resize",
	OP_FIELDS(resize_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(54, 12),
};

static const modser_sg_op_field split_fields[] = {
	OP_INT("axis", 0, 0),     OP_INT("split_dim", 1, 4), OP_BYTE("is_caffe", 0, 8),
	OP_BYTE("is_onnx", 0, 9), OP_INTS("sizes", 12),
};
const modser_sg_op_schema msd_op_split = {
	.name = "Split",
	OP_FIELDS(split_fields),
	OP_IN(1, 2),
	OP_OUT(1, MODSER_MANY),
	OP_TM(29, 16),
};

static const modser_sg_op_field generic_fields[] = {
	OP_INT("max_input_num", 0, 0),
	OP_INT("max_output_num", 0, 4),
	OP_TEXT("op_name", 8),
};
const modser_sg_op_schema msd_op_generic = {
	.name = "Generic",
	OP_FIELDS(generic_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	OP_TM(32, 12),
};

static const modser_sg_op_field squeeze_fields[] = {
	OP_INT("dim_0", -2, 0),
	OP_INT("dim_1", -2, 4),
	OP_INT("dim_2", -2, 8),
	OP_INT("dim_3", -2, 12),
};
const modser_sg_op_schema msd_op_squeeze = {
	.name = "Squeeze",
	OP_FIELDS(squeeze_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(38, 16),
};

static const modser_sg_op_field pad_fields[] = {
	OP_INT("pad_n_0", 0, 0),  OP_INT("pad_n_1", 0, 4),  OP_INT("pad_c_0", 0, 8),
	OP_INT("pad_c_1", 0, 12), OP_INT("pad_h_0", 0, 16), OP_INT("pad_h_1", 0, 20),
	OP_INT("pad_w_0", 0, 24), OP_INT("pad_w_1", 0, 28), OP_INT("mode", 0, 32),
	OP_FLOAT("value", 0, 36),
};
const modser_sg_op_schema msd_op_pad = {
	.name = "Pad",
	OP_FIELDS(pad_fields),
	OP_IN(1, 2),
	OP_OUT(1, 1),
	OP_TM(40, 40),
};

static const modser_sg_op_field strided_slice_fields[] = {
	OP_INT("begin_n", 0, 0),  OP_INT("end_n", 0, 4),  OP_INT("stride_n", 1, 8),
	OP_INT("begin_c", 0, 12), OP_INT("end_c", 0, 16), OP_INT("stride_c", 1, 20),
	OP_INT("begin_h", 0, 24), OP_INT("end_h", 0, 28), OP_INT("stride_h", 1, 32),
	OP_INT("begin_w", 0, 36), OP_INT("end_w", 0, 40), OP_INT("stride_w", 1, 44),
};
const modser_sg_op_schema msd_op_strided_slice = {
	.name = "StridedSlice",
	OP_FIELDS(strided_slice_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(41, 48),
};

static const modser_sg_op_field swap_axis_fields[] = {
	OP_INT("dim_0", 0, 0),
	OP_INT("dim_1", 1, 4),
};
const modser_sg_op_schema msd_op_swap_axis = {
	.name = "SwapAxis",
	OP_FIELDS(swap_axis_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(50, 8),
};

static const modser_sg_op_field space_to_batch_nd_fields[] = {
	OP_INT("dilation_x", 1, 0), OP_INT("dilation_y", 1, 4),
	OP_INT("pad_top", 0, 8),    OP_INT("pad_bottom", 0, 12),
	OP_INT("pad_left", 0, 16),  OP_INT("pad_right", 0, 20),
};
const modser_sg_op_schema msd_op_space_to_batch_nd = {
	.name = "SpaceToBatchND",
	OP_FIELDS(space_to_batch_nd_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(52, 24),
};

static const modser_sg_op_field batch_to_space_nd_fields[] = {
	OP_INT("dilation_x", 1, 0), OP_INT("dilation_y", 1, 4),
	OP_INT("crop_top", 0, 8),   OP_INT("crop_bottom", 0, 12),
	OP_INT("crop_left", 0, 16), OP_INT("crop_right", 0, 20),
};
const modser_sg_op_schema msd_op_batch_to_space_nd = {
	.name = "BatchToSpaceND",
	OP_FIELDS(batch_to_space_nd_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(53, 24),
};

static const modser_sg_op_field expanddims_fields[] = {
	OP_INT("axis", 0, 0),
};
const modser_sg_op_schema msd_op_expanddims = {
	.name = "Expanddims",
	OP_FIELDS(expanddims_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(60, 4),
};

static const modser_sg_op_field gather_fields[] = {
	OP_INT("axis", 0, 0),
	OP_INT("indices_num", 0, 4),
	OP_BYTE("is_onnx", 0, 8),
};
const modser_sg_op_schema msd_op_gather = {
	.name = "Gather",
	OP_FIELDS(gather_fields),
	OP_IN(1, 2),
	OP_OUT(1, 1),
	OP_TM(76, 12),
};

static const modser_sg_op_field transpose_fields[] = {
	OP_INTS("perm", 0),
};
const modser_sg_op_schema msd_op_transpose = {
	.name = "Transpose",
	OP_FIELDS(transpose_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(77, 4),
};

static const modser_sg_op_field space_to_depth_fields[] = {
	OP_INT("block_size", 1, 0),
};
const modser_sg_op_schema msd_op_space_to_depth = {
	.name = "SpaceToDepth",
	OP_FIELDS(space_to_depth_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(79, 4),
};

static const modser_sg_op_field depth_to_space_fields[] = {
	OP_INT("block_size", 1, 0),
};
const modser_sg_op_schema msd_op_depth_to_space = {
	.name = "DepthToSpace",
	OP_FIELDS(depth_to_space_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(80, 4),
};

const modser_sg_op_schema msd_op_reverse = {
	.name = "Reverse",
	OP_IN(1, 2),
	OP_OUT(1, 1),
	OP_TM(81, 0),
};

static const modser_sg_op_field sparse_to_dense_fields[] = {
	OP_INT("output_shape_size0", 0, 0),
	OP_INT("output_shape_size1", 0, 4),
	OP_INT("default_value", 0, 8),
};
const modser_sg_op_schema msd_op_sparse_to_dense = {
	.name = "SparseToDense",
	OP_FIELDS(sparse_to_dense_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	OP_TM(82, 12),
};

static const modser_sg_op_field unsqueeze_fields[] = {
	OP_INTS("axes", 0),
};
const modser_sg_op_schema msd_op_unsqueeze = {
	.name = "Unsqueeze",
	OP_FIELDS(unsqueeze_fields),
	OP_IN(1, 2),
	OP_OUT(1, 1),
	OP_TM(88, 4),
};

static const modser_sg_op_field expand_fields[] = {
	OP_INTS("shape", 0),
	OP_INT("dim_num", 0, 4),
};
const modser_sg_op_schema msd_op_expand = {
	.name = "Expand",
	OP_FIELDS(expand_fields),
	OP_IN(1, 2),
	OP_OUT(1, 1),
	OP_TM(92, 8),
};

static const modser_sg_op_field scatter_fields[] = {
	OP_INT("axis", 0, 0),
	OP_BYTE("is_onnx", 0, 4),
};
const modser_sg_op_schema msd_op_scatter = {
	.name = "Scatter",
	OP_FIELDS(scatter_fields),
	OP_IN(3, 3),
	OP_OUT(1, 1),
	OP_TM(93, 8),
};

const modser_sg_op_schema msd_op_shape = {
	.name = "Shape",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(94, 0),
};

static const modser_sg_op_field tile_fields[] = {
	OP_INT("frame_flag", 0, 0),
	OP_INT("reps_size", 0, 4),
	OP_INTS("reps", 8),
};
const modser_sg_op_schema msd_op_tile = {
	.name = "Tile",
	OP_FIELDS(tile_fields),
	OP_IN(1, 2),
	OP_OUT(1, 1),
	OP_TM(96, 12),
};
