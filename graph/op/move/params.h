#ifndef MSD_GRAPH_OP_MOVE_PARAMS_H
#define MSD_GRAPH_OP_MOVE_PARAMS_H
/* Lists of parameters, and the list of these lists. */
#include "graph/op/params.h"

#define MSD_PARAMS_CONCAT(X) X(INT, axis, 1, SHOWN)

#define MSD_PARAMS_CROP(X)                                                             \
	X(INT, num_args, 0, SHOWN)                                                     \
	X(INT, offset_c, 0, SHOWN)                                                     \
	X(INT, offset_h, 0, SHOWN)                                                     \
	X(INT, offset_w, 0, SHOWN)                                                     \
	X(INT, crop_h, 0, SHOWN)                                                       \
	X(INT, crop_w, 0, SHOWN)                                                       \
	X(INT, center_crop, 0, SHOWN)                                                  \
	X(INT, axis, 0, SHOWN)                                                         \
	X(INT, flag, 0, SHOWN)

#define MSD_PARAMS_DEPTH_TO_SPACE(X)                                                   \
	X(INT, block_size, 1, SHOWN)                                                   \
	X(STR, mode, "DCR", RARE)

#define MSD_PARAMS_SPACE_TO_DEPTH(X)                                                   \
	X(INT, block_size, 1, SHOWN)                                                   \
	X(STR, mode, "DCR", RARE)

#define MSD_PARAMS_EXPAND(X)                                                           \
	X(INTS, shape, NULL, SHOWN)                                                    \
	X(INT, dim_num, 0, SHOWN)

#define MSD_PARAMS_TILE(X)                                                             \
	X(INT, frame_flag, 0, SHOWN)                                                   \
	X(INT, reps_size, 0, SHOWN)                                                    \
	X(INTS, reps, NULL, SHOWN)

#define MSD_PARAMS_FLATTEN(X)                                                          \
	X(INT, axis, 1, SHOWN)                                                         \
	X(INT, end_axis, 3, SHOWN)

#define MSD_PARAMS_INTERP(X)                                                           \
	X(INT, resize_type, 1, SHOWN)                                                  \
	X(FLOAT, width_scale, 1, SHOWN)                                                \
	X(FLOAT, height_scale, 1, SHOWN)                                               \
	X(INT, output_width, 1, SHOWN)                                                 \
	X(INT, output_height, 1, SHOWN)

#define MSD_PARAMS_PAD(X)                                                              \
	X(INT, pad_n_0, 0, SHOWN)                                                      \
	X(INT, pad_n_1, 0, SHOWN)                                                      \
	X(INT, pad_c_0, 0, SHOWN)                                                      \
	X(INT, pad_c_1, 0, SHOWN)                                                      \
	X(INT, pad_h_0, 0, SHOWN)                                                      \
	X(INT, pad_h_1, 0, SHOWN)                                                      \
	X(INT, pad_w_0, 0, SHOWN)                                                      \
	X(INT, pad_w_1, 0, SHOWN)                                                      \
	X(INT, mode, 0, SHOWN)                                                         \
	X(FLOAT, value, 0, SHOWN)

#define MSD_PARAMS_PERMUTE(X)                                                          \
	X(INT, flag, 0, SHOWN)                                                         \
	X(INT, order0, 0, SHOWN)                                                       \
	X(INT, order1, 1, SHOWN)                                                       \
	X(INT, order2, 2, SHOWN)                                                       \
	X(INT, order3, 3, SHOWN)

#define MSD_PARAMS_RESHAPE(X)                                                          \
	X(INT, is_mxnet, 0, SHOWN)                                                     \
	X(INT, reverse, 0, SHOWN)                                                      \
	X(INTS, re_shape, NULL, SHOWN)                                                 \
	X(INT, is_onnx, 0, SHOWN)                                                      \
	X(INT, allowzero, 0, RARE)

#define MSD_PARAMS_RESIZE(X)                                                           \
	X(FLOAT, scale_x, 1, SHOWN)                                                    \
	X(FLOAT, scale_y, 1, SHOWN)                                                    \
	X(INT, type, 0, SHOWN)                                                         \
	X(STR, mode, "nearest", RARE)                                                  \
	X(STR, coordinate_transformation_mode, "half_pixel", RARE)                     \
	X(STR, nearest_mode, "round_prefer_floor", RARE)                               \
	X(STR, keep_aspect_ratio_policy, "stretch", RARE)                              \
	X(FLOAT, cubic_coeff_a, -0.75, RARE)                                           \
	X(FLOAT, extrapolation_value, 0, RARE)                                         \
	X(INT, exclude_outside, 0, RARE)                                               \
	X(INT, antialias, 0, RARE)                                                     \
	X(INTS, axes, NULL, RARE)

#define MSD_PARAMS_SHUFFLE_CHANNEL(X) X(INT, group, 1, SHOWN)

#define MSD_PARAMS_SLICE(X)                                                            \
	X(INT, axis, 0, SHOWN)                                                         \
	X(INTS, slice_points, NULL, SHOWN)                                             \
	X(INTS, begins, NULL, SHOWN)                                                   \
	X(INTS, sizes, NULL, SHOWN)                                                    \
	X(INT, iscaffe, 0, SHOWN)                                                      \
	X(INT, ismxnet, 0, SHOWN)                                                      \
	X(INT, isonnx, 0, SHOWN)                                                       \
	X(INT, begin, 0, SHOWN)                                                        \
	X(INT, end, 0, SHOWN)                                                          \
	X(INT, step, 1, SHOWN)

#define MSD_PARAMS_SPLIT(X)                                                            \
	X(INT, axis, 0, SHOWN)                                                         \
	X(INT, split_dim, 1, SHOWN)                                                    \
	X(INT, is_caffe, 0, SHOWN)                                                     \
	X(INT, is_onnx, 0, SHOWN)                                                      \
	X(INTS, sizes, NULL, SHOWN)

#define MSD_PARAMS_SQUEEZE(X)                                                          \
	X(INT, dim_0, -2, SHOWN)                                                       \
	X(INT, dim_1, -2, SHOWN)                                                       \
	X(INT, dim_2, -2, SHOWN)                                                       \
	X(INT, dim_3, -2, SHOWN)                                                       \
	X(INTS, axes, NULL, RARE)

#define MSD_PARAMS_UNSQUEEZE(X) X(INTS, axes, NULL, SHOWN)

#define MSD_PARAMS_SHAPE(X)                                                            \
	X(INT, start, 0, RARE)                                                         \
	X(INT, end, INT64_MAX, RARE)

#define MSD_PARAMS_TRANSPOSE(X) X(INTS, perm, NULL, SHOWN)

#define MSD_PARAMS_EXPANDDIMS(X) X(INT, axis, 0, SHOWN)

#define MSD_PARAMS_SWAP_AXIS(X)                                                        \
	X(INT, dim_0, 0, SHOWN)                                                        \
	X(INT, dim_1, 1, SHOWN)

#define MSD_PARAMS_STRIDED_SLICE(X)                                                    \
	X(INT, begin_n, 0, SHOWN)                                                      \
	X(INT, end_n, 0, SHOWN)                                                        \
	X(INT, stride_n, 1, SHOWN)                                                     \
	X(INT, begin_c, 0, SHOWN)                                                      \
	X(INT, end_c, 0, SHOWN)                                                        \
	X(INT, stride_c, 1, SHOWN)                                                     \
	X(INT, begin_h, 0, SHOWN)                                                      \
	X(INT, end_h, 0, SHOWN)                                                        \
	X(INT, stride_h, 1, SHOWN)                                                     \
	X(INT, begin_w, 0, SHOWN)                                                      \
	X(INT, end_w, 0, SHOWN)                                                        \
	X(INT, stride_w, 1, SHOWN)

#define MSD_PARAMS_REORG(X) X(INT, stride, 1, SHOWN)

#define MSD_PARAMS_UPSAMPLE(X) X(FLOAT, scale, 1, SHOWN)

#define MSD_MOVE_PARAMS(X)                                                             \
	X(concat, MSD_PARAMS_CONCAT)                                                   \
	X(crop, MSD_PARAMS_CROP)                                                       \
	X(depth_to_space, MSD_PARAMS_DEPTH_TO_SPACE)                                   \
	X(space_to_depth, MSD_PARAMS_SPACE_TO_DEPTH)                                   \
	X(expand, MSD_PARAMS_EXPAND)                                                   \
	X(tile, MSD_PARAMS_TILE)                                                       \
	X(flatten, MSD_PARAMS_FLATTEN)                                                 \
	X(interp, MSD_PARAMS_INTERP)                                                   \
	X(pad, MSD_PARAMS_PAD)                                                         \
	X(permute, MSD_PARAMS_PERMUTE)                                                 \
	X(reshape, MSD_PARAMS_RESHAPE)                                                 \
	X(resize, MSD_PARAMS_RESIZE)                                                   \
	X(shuffle_channel, MSD_PARAMS_SHUFFLE_CHANNEL)                                 \
	X(slice, MSD_PARAMS_SLICE)                                                     \
	X(split, MSD_PARAMS_SPLIT)                                                     \
	X(squeeze, MSD_PARAMS_SQUEEZE)                                                 \
	X(unsqueeze, MSD_PARAMS_UNSQUEEZE)                                             \
	X(shape, MSD_PARAMS_SHAPE)                                                     \
	X(transpose, MSD_PARAMS_TRANSPOSE)                                             \
	X(expanddims, MSD_PARAMS_EXPANDDIMS)                                           \
	X(swap_axis, MSD_PARAMS_SWAP_AXIS)                                             \
	X(strided_slice, MSD_PARAMS_STRIDED_SLICE)                                     \
	X(reorg, MSD_PARAMS_REORG)                                                     \
	X(upsample, MSD_PARAMS_UPSAMPLE)
MSD_MOVE_PARAMS(MSD_PARAMS)

#endif
