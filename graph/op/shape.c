/* What moves elements, or tells shapes. */
#include "graph/op/op.h"

static const modser_sg_op_field bilinear_resize_fields[] = {
	OP_FLOAT("scale_x", 1, 0),
	OP_FLOAT("scale_y", 1, 4),
	OP_INT("type", 0, 8),
};
const modser_sg_op_schema msd_op_bilinear_resize = {
	.name = "BilinearResize",
	.fields = bilinear_resize_fields,
	.n_fields = OP_COUNT(bilinear_resize_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 2,
	.tm_bytes = 12,
};

static const modser_sg_op_field resize_fields[] = {
	OP_FLOAT("scale_x", 1, 0),
	OP_FLOAT("scale_y", 1, 4),
	OP_INT("type", 0, 8),
};
const modser_sg_op_schema msd_op_resize = {
	.name = "Resize",
	.fields = resize_fields,
	.n_fields = OP_COUNT(resize_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 54,
	.tm_bytes = 12,
};

static const modser_sg_op_field split_fields[] = {
	OP_INT("axis", 0, 0),     OP_INT("split_dim", 1, 4), OP_BYTE("is_caffe", 0, 8),
	OP_BYTE("is_onnx", 0, 9), OP_INTS("sizes", 12),
};
const modser_sg_op_schema msd_op_split = {
	.name = "Split",
	.fields = split_fields,
	.n_fields = OP_COUNT(split_fields),
	.min_in = 1,
	.max_in = 2,
	.min_out = 1,
	.max_out = MODSER_MANY,
	.tm_type = 29,
	.tm_bytes = 16,
};

static const modser_sg_op_field generic_fields[] = {
	OP_INT("max_input_num", 0, 0),
	OP_INT("max_output_num", 0, 4),
	OP_TEXT("op_name", 8),
};
const modser_sg_op_schema msd_op_generic = {
	.name = "Generic",
	.fields = generic_fields,
	.n_fields = OP_COUNT(generic_fields),
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = MODSER_MANY,
	.tm_type = 32,
	.tm_bytes = 12,
};

static const modser_sg_op_field squeeze_fields[] = {
	OP_INT("dim_0", -2, 0),
	OP_INT("dim_1", -2, 4),
	OP_INT("dim_2", -2, 8),
	OP_INT("dim_3", -2, 12),
};
const modser_sg_op_schema msd_op_squeeze = {
	.name = "Squeeze",
	.fields = squeeze_fields,
	.n_fields = OP_COUNT(squeeze_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 38,
	.tm_bytes = 16,
};

static const modser_sg_op_field pad_fields[] = {
	OP_INT("pad_n_0", 0, 0),  OP_INT("pad_n_1", 0, 4),  OP_INT("pad_c_0", 0, 8),
	OP_INT("pad_c_1", 0, 12), OP_INT("pad_h_0", 0, 16), OP_INT("pad_h_1", 0, 20),
	OP_INT("pad_w_0", 0, 24), OP_INT("pad_w_1", 0, 28), OP_INT("mode", 0, 32),
	OP_FLOAT("value", 0, 36),
};
const modser_sg_op_schema msd_op_pad = {
	.name = "Pad",
	.fields = pad_fields,
	.n_fields = OP_COUNT(pad_fields),
	.min_in = 1,
	.max_in = 2,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 40,
	.tm_bytes = 40,
};

static const modser_sg_op_field strided_slice_fields[] = {
	OP_INT("begin_n", 0, 0),  OP_INT("end_n", 0, 4),  OP_INT("stride_n", 1, 8),
	OP_INT("begin_c", 0, 12), OP_INT("end_c", 0, 16), OP_INT("stride_c", 1, 20),
	OP_INT("begin_h", 0, 24), OP_INT("end_h", 0, 28), OP_INT("stride_h", 1, 32),
	OP_INT("begin_w", 0, 36), OP_INT("end_w", 0, 40), OP_INT("stride_w", 1, 44),
};
const modser_sg_op_schema msd_op_strided_slice = {
	.name = "StridedSlice",
	.fields = strided_slice_fields,
	.n_fields = OP_COUNT(strided_slice_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 41,
	.tm_bytes = 48,
};

static const modser_sg_op_field swap_axis_fields[] = {
	OP_INT("dim_0", 0, 0),
	OP_INT("dim_1", 1, 4),
};
const modser_sg_op_schema msd_op_swap_axis = {
	.name = "SwapAxis",
	.fields = swap_axis_fields,
	.n_fields = OP_COUNT(swap_axis_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 50,
	.tm_bytes = 8,
};

static const modser_sg_op_field space_to_batch_nd_fields[] = {
	OP_INT("dilation_x", 1, 0), OP_INT("dilation_y", 1, 4),
	OP_INT("pad_top", 0, 8),    OP_INT("pad_bottom", 0, 12),
	OP_INT("pad_left", 0, 16),  OP_INT("pad_right", 0, 20),
};
const modser_sg_op_schema msd_op_space_to_batch_nd = {
	.name = "SpaceToBatchND",
	.fields = space_to_batch_nd_fields,
	.n_fields = OP_COUNT(space_to_batch_nd_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 52,
	.tm_bytes = 24,
};

static const modser_sg_op_field batch_to_space_nd_fields[] = {
	OP_INT("dilation_x", 1, 0), OP_INT("dilation_y", 1, 4),
	OP_INT("crop_top", 0, 8),   OP_INT("crop_bottom", 0, 12),
	OP_INT("crop_left", 0, 16), OP_INT("crop_right", 0, 20),
};
const modser_sg_op_schema msd_op_batch_to_space_nd = {
	.name = "BatchToSpaceND",
	.fields = batch_to_space_nd_fields,
	.n_fields = OP_COUNT(batch_to_space_nd_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 53,
	.tm_bytes = 24,
};

static const modser_sg_op_field expanddims_fields[] = {
	OP_INT("axis", 0, 0),
};
const modser_sg_op_schema msd_op_expanddims = {
	.name = "Expanddims",
	.fields = expanddims_fields,
	.n_fields = OP_COUNT(expanddims_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 60,
	.tm_bytes = 4,
};

static const modser_sg_op_field gather_fields[] = {
	OP_INT("axis", 0, 0),
	OP_INT("indices_num", 0, 4),
	OP_BYTE("is_onnx", 0, 8),
};
const modser_sg_op_schema msd_op_gather = {
	.name = "Gather",
	.fields = gather_fields,
	.n_fields = OP_COUNT(gather_fields),
	.min_in = 1,
	.max_in = 2,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 76,
	.tm_bytes = 12,
};

static const modser_sg_op_field transpose_fields[] = {
	OP_INTS("perm", 0),
};
const modser_sg_op_schema msd_op_transpose = {
	.name = "Transpose",
	.fields = transpose_fields,
	.n_fields = OP_COUNT(transpose_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 77,
	.tm_bytes = 4,
};

static const modser_sg_op_field space_to_depth_fields[] = {
	OP_INT("block_size", 1, 0),
};
const modser_sg_op_schema msd_op_space_to_depth = {
	.name = "SpaceToDepth",
	.fields = space_to_depth_fields,
	.n_fields = OP_COUNT(space_to_depth_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 79,
	.tm_bytes = 4,
};

static const modser_sg_op_field depth_to_space_fields[] = {
	OP_INT("block_size", 1, 0),
};
const modser_sg_op_schema msd_op_depth_to_space = {
	.name = "DepthToSpace",
	.fields = depth_to_space_fields,
	.n_fields = OP_COUNT(depth_to_space_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 80,
	.tm_bytes = 4,
};

const modser_sg_op_schema msd_op_reverse = {
	.name = "Reverse",
	.min_in = 1,
	.max_in = 2,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 81,
};

static const modser_sg_op_field sparse_to_dense_fields[] = {
	OP_INT("output_shape_size0", 0, 0),
	OP_INT("output_shape_size1", 0, 4),
	OP_INT("default_value", 0, 8),
};
const modser_sg_op_schema msd_op_sparse_to_dense = {
	.name = "SparseToDense",
	.fields = sparse_to_dense_fields,
	.n_fields = OP_COUNT(sparse_to_dense_fields),
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = MODSER_MANY,
	.tm_type = 82,
	.tm_bytes = 12,
};

static const modser_sg_op_field unsqueeze_fields[] = {
	OP_INTS("axes", 0),
};
const modser_sg_op_schema msd_op_unsqueeze = {
	.name = "Unsqueeze",
	.fields = unsqueeze_fields,
	.n_fields = OP_COUNT(unsqueeze_fields),
	.min_in = 1,
	.max_in = 2,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 88,
	.tm_bytes = 4,
};

static const modser_sg_op_field expand_fields[] = {
	OP_INTS("shape", 0),
	OP_INT("dim_num", 0, 4),
};
const modser_sg_op_schema msd_op_expand = {
	.name = "Expand",
	.fields = expand_fields,
	.n_fields = OP_COUNT(expand_fields),
	.min_in = 1,
	.max_in = 2,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 92,
	.tm_bytes = 8,
};

static const modser_sg_op_field scatter_fields[] = {
	OP_INT("axis", 0, 0),
	OP_BYTE("is_onnx", 0, 4),
};
const modser_sg_op_schema msd_op_scatter = {
	.name = "Scatter",
	.fields = scatter_fields,
	.n_fields = OP_COUNT(scatter_fields),
	.min_in = 3,
	.max_in = 3,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 93,
	.tm_bytes = 8,
};

const modser_sg_op_schema msd_op_shape = {
	.name = "Shape",
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 94,
};

static const modser_sg_op_field tile_fields[] = {
	OP_INT("frame_flag", 0, 0),
	OP_INT("reps_size", 0, 4),
	OP_INTS("reps", 8),
};
const modser_sg_op_schema msd_op_tile = {
	.name = "Tile",
	.fields = tile_fields,
	.n_fields = OP_COUNT(tile_fields),
	.min_in = 1,
	.max_in = 2,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 96,
	.tm_bytes = 12,
};
