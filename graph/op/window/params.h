#ifndef MSD_GRAPH_OP_WINDOW_PARAMS_H
#define MSD_GRAPH_OP_WINDOW_PARAMS_H
/* Lists of parameters, and the list of these lists. */
#include "graph/op/params.h"

#define MSD_PARAMS_AFFINE_GRID(X) X(INT, align_corners, 0, RARE)

#define MSD_PARAMS_CONVOLUTION(X)                                                      \
	X(INT, kernel_h, 1, SHOWN)                                                     \
	X(INT, kernel_w, 1, SHOWN)                                                     \
	X(INT, stride_h, 1, SHOWN)                                                     \
	X(INT, stride_w, 1, SHOWN)                                                     \
	X(INT, dilation_h, 1, SHOWN)                                                   \
	X(INT, dilation_w, 1, SHOWN)                                                   \
	X(INT, input_channel, 1, SHOWN)                                                \
	X(INT, output_channel, 1, SHOWN)                                               \
	X(INT, group, 1, SHOWN)                                                        \
	X(INT, activation, -1, SHOWN)                                                  \
	X(INT, pad_h0, 0, SHOWN)                                                       \
	X(INT, pad_w0, 0, SHOWN)                                                       \
	X(INT, pad_h1, 0, SHOWN)                                                       \
	X(INT, pad_w1, 0, SHOWN)                                                       \
	X(INTS, kernel, NULL, RARE)                                                    \
	X(INTS, strides, NULL, RARE)                                                   \
	X(INTS, dilations, NULL, RARE)                                                 \
	X(INTS, pads, NULL, RARE)

#define MSD_PARAMS_FUSED_CONVOLUTION(X)                                                \
	MSD_PARAMS_CONVOLUTION(X)                                                      \
	X(INT, fused, MSD_FUSED_NONE, RARE)                                            \
	X(FLOAT, fused_a, 0, RARE)                                                     \
	X(FLOAT, fused_b, 0, RARE)

#define MSD_PARAMS_DECONVOLUTION(X)                                                    \
	X(INT, num_output, 1, SHOWN)                                                   \
	X(INT, kernel_h, 1, SHOWN)                                                     \
	X(INT, kernel_w, 1, SHOWN)                                                     \
	X(INT, stride_h, 1, SHOWN)                                                     \
	X(INT, stride_w, 1, SHOWN)                                                     \
	X(INT, pad_w0, 0, SHOWN)                                                       \
	X(INT, pad_h0, 0, SHOWN)                                                       \
	X(INT, pad_w1, 0, SHOWN)                                                       \
	X(INT, pad_h1, 0, SHOWN)                                                       \
	X(INT, dilation_h, 1, SHOWN)                                                   \
	X(INT, dilation_w, 1, SHOWN)                                                   \
	X(INT, group, 1, SHOWN)                                                        \
	X(INT, activation, -1, SHOWN)                                                  \
	X(INT, output_pad_h0, 0, SHOWN)                                                \
	X(INT, output_pad_w0, 0, SHOWN)                                                \
	X(INTS, kernel, NULL, RARE)                                                    \
	X(INTS, strides, NULL, RARE)                                                   \
	X(INTS, dilations, NULL, RARE)                                                 \
	X(INTS, pads, NULL, RARE)                                                      \
	X(INTS, output_padding, NULL, RARE)                                            \
	X(INTS, output_shape, NULL, RARE)                                              \
	X(INT, auto_pad, 0, RARE)

#define MSD_PARAMS_DEFORMABLE_CONVOLUTION(X)                                           \
	X(INT, kernel_h, 1, RARE)                                                      \
	X(INT, kernel_w, 1, RARE)                                                      \
	X(INT, stride_h, 1, RARE)                                                      \
	X(INT, stride_w, 1, RARE)                                                      \
	X(INT, dilation_h, 1, RARE)                                                    \
	X(INT, dilation_w, 1, RARE)                                                    \
	X(INT, pad_h0, 0, RARE)                                                        \
	X(INT, pad_w0, 0, RARE)                                                        \
	X(INT, pad_h1, 0, RARE)                                                        \
	X(INT, pad_w1, 0, RARE)                                                        \
	X(INT, group, 1, RARE)                                                         \
	X(INT, offset_group, 1, RARE)

#define MSD_PARAMS_DETECTION_OUTPUT(X)                                                 \
	X(INT, num_classes, 0, SHOWN)                                                  \
	X(INT, keep_top_k, 100, SHOWN)                                                 \
	X(INT, nms_top_k, 100, SHOWN)                                                  \
	X(FLOAT, confidence_threshold, 0, SHOWN)                                       \
	X(FLOAT, nms_threshold, 0, SHOWN)                                              \
	X(INT, background_label_id, 0, RARE) /* a class that is left out; -1: none */  \
	X(INT, share_location, 1, RARE)      /* one box for all classes */             \
	X(INT, code_type, MSD_BOX_CENTER, RARE)                                        \
	X(INT, variance_encoded_in_target, 0, RARE)                                    \
	X(FLOAT, eta, 1, RARE) /* lowers the limit of overlaps after each box */

#define MSD_PARAMS_POOLING(X)                                                          \
	X(INT, alg, 0, SHOWN)                                                          \
	X(INT, kernel_h, 2, SHOWN)                                                     \
	X(INT, kernel_w, 2, SHOWN)                                                     \
	X(INT, stride_h, 1, SHOWN)                                                     \
	X(INT, stride_w, 1, SHOWN)                                                     \
	X(INT, global, 0, SHOWN)                                                       \
	X(INT, caffe_flavor, 0, SHOWN)                                                 \
	X(INT, pad_h0, 0, SHOWN)                                                       \
	X(INT, pad_w0, 0, SHOWN)                                                       \
	X(INT, pad_h1, 0, SHOWN)                                                       \
	X(INT, pad_w1, 0, SHOWN)                                                       \
	X(INTS, kernel, NULL, RARE)                                                    \
	X(INTS, strides, NULL, RARE)                                                   \
	X(INTS, dilations, NULL, RARE)                                                 \
	X(INTS, pads, NULL, RARE)                                                      \
	X(INT, ceil_mode, 0, RARE)     /* ONNX's, which does not count padding */      \
	X(INT, auto_pad, 0, RARE)      /* 1 and 2: same extent, upper and lower */     \
	X(INT, storage_order, 0, RARE) /* 1: indices count columns first */            \
	X(INT, p, 2, RARE)             /* for alg 2: the root of a sum of powers */

#define MSD_PARAMS_PRIOR_BOX(X)                                                        \
	X(FLOATS, min_size, NULL, SHOWN)                                               \
	X(FLOATS, max_size, NULL, SHOWN)                                               \
	X(FLOATS, variance, NULL, SHOWN)                                               \
	X(FLOATS, aspect_ratio, NULL, SHOWN)                                           \
	X(INT, flip, 0, SHOWN)                                                         \
	X(INT, clip, 0, SHOWN)                                                         \
	X(INT, img_size, 0, SHOWN)                                                     \
	X(INT, img_h, 0, SHOWN)                                                        \
	X(INT, img_w, 0, SHOWN)                                                        \
	X(FLOAT, step_w, 0, SHOWN)                                                     \
	X(FLOAT, step_h, 0, SHOWN)                                                     \
	X(FLOAT, offset, 0, SHOWN)                                                     \
	X(INT, num_priors, 0, SHOWN)                                                   \
	X(INT, out_dim, 0, SHOWN)

#define MSD_PARAMS_REGION(X)                                                           \
	X(INT, num_classes, 0, SHOWN)                                                  \
	X(INT, side, 0, SHOWN)                                                         \
	X(INT, num_box, 0, SHOWN)                                                      \
	X(INT, coords, 0, SHOWN)                                                       \
	X(FLOAT, confidence_threshold, 0, SHOWN)                                       \
	X(FLOAT, nms_threshold, 0, SHOWN)                                              \
	X(FLOATS, biases, NULL, SHOWN)

#define MSD_PARAMS_GRID_SAMPLE(X)                                                      \
	X(STR, mode, "bilinear", RARE)                                                 \
	X(STR, padding_mode, "zeros", RARE)                                            \
	X(INT, align_corners, 0, RARE)

#define MSD_PARAMS_ROI_ALIGN(X)                                                        \
	X(STR, mode, "avg", RARE)                                                      \
	X(STR, coordinate_transformation_mode, "half_pixel", RARE)                     \
	X(INT, output_height, 1, RARE)                                                 \
	X(INT, output_width, 1, RARE)                                                  \
	X(INT, sampling_ratio, 0, RARE)                                                \
	X(FLOAT, spatial_scale, 1, RARE)

#define MSD_PARAMS_NON_MAX_SUPPRESSION(X) X(INT, center_point_box, 0, RARE)

#define MSD_PARAMS_MAX_UNPOOL(X)                                                       \
	X(INTS, kernel_shape, NULL, RARE)                                              \
	X(INTS, strides, NULL, RARE)                                                   \
	X(INTS, pads, NULL, RARE)

#define MSD_PARAMS_COL2IM(X)                                                           \
	X(INTS, dilations, NULL, RARE)                                                 \
	X(INTS, pads, NULL, RARE)                                                      \
	X(INTS, strides, NULL, RARE)

#define MSD_WINDOW_PARAMS(X)                                                           \
	X(affine_grid, MSD_PARAMS_AFFINE_GRID)                                         \
	X(convolution, MSD_PARAMS_CONVOLUTION)                                         \
	X(fused_convolution, MSD_PARAMS_FUSED_CONVOLUTION)                             \
	X(deconvolution, MSD_PARAMS_DECONVOLUTION)                                     \
	X(deformable_convolution, MSD_PARAMS_DEFORMABLE_CONVOLUTION)                   \
	X(detection_output, MSD_PARAMS_DETECTION_OUTPUT)                               \
	X(pooling, MSD_PARAMS_POOLING)                                                 \
	X(prior_box, MSD_PARAMS_PRIOR_BOX)                                             \
	X(region, MSD_PARAMS_REGION)                                                   \
	X(grid_sample, MSD_PARAMS_GRID_SAMPLE)                                         \
	X(roi_align, MSD_PARAMS_ROI_ALIGN)                                             \
	X(non_max_suppression, MSD_PARAMS_NON_MAX_SUPPRESSION)                         \
	X(max_unpool, MSD_PARAMS_MAX_UNPOOL)                                           \
	X(col2im, MSD_PARAMS_COL2IM)
MSD_WINDOW_PARAMS(MSD_PARAMS)

#endif
