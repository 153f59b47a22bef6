/* Tengine's operators, by their numbers. Number 54 is the later one of two for Resize.
 */
#include "graph/serializer/tmfile/row.h"

#define ROW(type, op, params)                                                          \
	{                                                                              \
		sizeof(modser_tmfile_row), (type), (op), (params)                      \
	}

const modser_tmfile_row tm_rows[] = {
	ROW(1, "BatchNormalization", "f:rescale_factor f:eps i:caffe_flavor"),
	ROW(3, "Concat", "i:axis"),
	ROW(4, "Const", ""),
	ROW(5, "Convolution",
	    "i:kernel_h i:kernel_w i:stride_h i:stride_w i:dilation_h i:dilation_w "
	    "i:input_channel i:output_channel i:group i:activation i:pad_h0 i:pad_w0 "
	    "i:pad_h1 i:pad_w1"),
	ROW(6, "Deconvolution",
	    "i:num_output i:kernel_h i:kernel_w i:stride_h i:stride_w i:pad_w0 "
	    "i:pad_h0 i:pad_w1 i:pad_h1 i:dilation_h i:dilation_w i:group i:activation "
	    "i:output_pad_h0 i:output_pad_w0"),
	ROW(7, "DetectionOutput",
	    "i:num_classes i:keep_top_k i:nms_top_k f:confidence_threshold "
	    "f:nms_threshold"),
	ROW(8, "Dropout", ""),
	ROW(9, "Eltwise", "i:type i:caffe_flavor f:shift f:power f:scale"),
	ROW(10, "Flatten", "i:axis i:end_axis"),
	ROW(11, "FullyConnected", "i:num_output"),
	ROW(12, "InputOp", ""),
	ROW(13, "LRN",
	    "i:local_size f:alpha f:beta i:norm_region f:k f:bias b:is_onnx"),
	ROW(14, "Normalize", "i:across_spatial i:channel_shared"),
	ROW(15, "Permute", "i:flag i:order0 i:order1 i:order2 i:order3"),
	ROW(16, "Pooling",
	    "i:alg i:kernel_h i:kernel_w i:stride_h i:stride_w i:global i:caffe_flavor "
	    "i:pad_h0 i:pad_w0 i:pad_h1 i:pad_w1"),
	ROW(17, "PReLU", ""),
	ROW(18, "PriorBox",
	    "F:min_size F:max_size F:variance F:aspect_ratio i:flip i:clip i:img_size "
	    "i:img_h i:img_w f:step_w f:step_h f:offset i:num_priors i:out_dim"),
	ROW(19, "Region",
	    "i:num_classes i:side i:num_box i:coords f:confidence_threshold "
	    "f:nms_threshold F:biases"),
	ROW(20, "ReLu", "f:negative_slope"),
	ROW(21, "ReLu6", ""),
	ROW(22, "Reorg", "i:stride"),
	ROW(23, "Reshape", "i:is_mxnet i:reverse I:re_shape i:is_onnx"),
	ROW(26, "Scale", "i:axis i:num_axes i:bias_term"),
	ROW(27, "Slice",
	    "i:axis I:slice_points I:begins I:sizes i:iscaffe i:ismxnet i:isonnx "
	    "i:begin i:end i:step"),
	ROW(28, "Softmax", "i:axis"),
	ROW(29, "Split", "i:axis i:split_dim b:is_caffe b:is_onnx I:sizes"),
	ROW(31, "Gemm", "f:alpha f:beta i:transA i:transB"),
	ROW(33, "Logistic", ""),
	ROW(34, "LSTM",
	    "f:forget_bias f:clip i:output_len i:sequence_len i:input_size "
	    "i:hidden_size i:cell_size i:has_peephole i:has_projection i:has_clip "
	    "i:has_bias i:has_init_state i:forget_act i:input_act i:output_act "
	    "i:cellin_act i:cellout_act i:mxnet_flag"),
	ROW(35, "RNN",
	    "f:clip i:output_len i:sequence_len i:input_size i:hidden_size i:has_clip "
	    "i:has_bias i:has_init_state i:activation"),
	ROW(36, "Tanh", ""),
	ROW(37, "Sigmoid", ""),
	ROW(38, "Squeeze", "i:dim_0 i:dim_1 i:dim_2 i:dim_3"),
	ROW(40, "Pad",
	    "i:pad_n_0 i:pad_n_1 i:pad_c_0 i:pad_c_1 i:pad_h_0 i:pad_h_1 i:pad_w_0 "
	    "i:pad_w_1 i:mode f:value"),
	ROW(41, "StridedSlice",
	    "i:begin_n i:end_n i:stride_n i:begin_c i:end_c i:stride_c i:begin_h "
	    "i:end_h i:stride_h i:begin_w i:end_w i:stride_w"),
	ROW(42, "ArgMax", "i:axis i:keepdims"),
	ROW(43, "ArgMin", "i:axis i:keepdims"),
	ROW(44, "TopKV2", "i:k i:sorted"),
	ROW(45, "Reduction", "i:dim_0 i:dim_1 i:dim_2 i:dim_3 i:type i:keepdim"),
	ROW(46, "Maximum", ""),
	ROW(47, "Minimum", ""),
	ROW(48, "GRU",
	    "f:clip i:output_len i:sequence_len i:input_size i:hidden_size i:has_clip "
	    "i:has_gate_bias i:has_candidate_bias i:has_init_state i:mxnet_flag"),
	ROW(49, "Addn", "i:axis"),
	ROW(50, "SwapAxis", "i:dim_0 i:dim_1"),
	ROW(51, "Upsample", "f:scale"),
	ROW(54, "Resize", "f:scale_x f:scale_y i:type"),
	ROW(2, "Resize", "f:scale_x f:scale_y i:type"),
	ROW(55, "ShuffleChannel", "i:group"),
	ROW(56, "Crop",
	    "i:num_args i:offset_c i:offset_h i:offset_w i:crop_h i:crop_w "
	    "b:center_crop i:axis i:flag"),
	ROW(59, "Unary", "i:type"),
	ROW(60, "Expanddims", "i:axis"),
	ROW(61, "Bias", "i:bias_size"),
	ROW(62, "Noop", ""),
	ROW(63, "Threshold", "f:threshold"),
	ROW(64, "Hardsigmoid", "f:alpha f:beta"),
	ROW(65, "Embedding", "i:num_output i:input_dim i:bias_term i:weight_data_size"),
	ROW(66, "InstanceNorm", "f:eps"),
	ROW(67, "MVN", "i:across_channels i:normalize_variance f:eps"),
	ROW(68, "Absval", ""),
	ROW(69, "Cast", "i:type_from i:type_to"),
	ROW(70, "HardSwish", "f:alpha f:beta"),
	ROW(71, "Interp",
	    "i:resize_type f:width_scale f:height_scale i:output_width "
	    "i:output_height"),
	ROW(72, "Selu", "f:alpha f:lambda"),
	ROW(73, "Elu", "f:alpha"),
	ROW(74, "BroadMul", ""),
	ROW(75, "Logical", "i:type"),
	ROW(76, "Gather", "i:axis i:indices_num b:is_onnx"),
	ROW(77, "Transpose", "I:perm"),
	ROW(78, "Comparison", "i:type"),
	ROW(79, "SpaceToDepth", "i:block_size"),
	ROW(80, "DepthToSpace", "i:block_size"),
	ROW(81, "Reverse", ""),
	ROW(83, "Ceil", ""),
	ROW(84, "SquaredDifference", ""),
	ROW(85, "Round", ""),
	ROW(86, "ZerosLike", ""),
	ROW(87, "Clip", "f:max f:min"),
	ROW(88, "Unsqueeze", "I:axes"),
	ROW(89, "ReduceL2", "i:axis i:keepdim"),
	ROW(90, "Mean", ""),
	ROW(91, "MatMul", ""),
	ROW(92, "Expand", "I:shape i:dim_num"),
	ROW(93, "Scatter", "i:axis b:is_onnx"),
	ROW(94, "Shape", ""),
	ROW(95, "Where", ""),
	ROW(96, "Tile", "i:frame_flag i:reps_size I:reps"),
	ROW(97, "Mish", ""),
	ROW(99, "LogSoftmax", "i:axis"),
	ROW(100, "ReLU1", ""),
	ROW(101, "L2Normalization", ""),
	ROW(102, "Softplus", ""),
	ROW(103, "Reciprocal", ""),
	ROW(106, "Gelu", ""),
	ROW(107, "LayerNorm", "f:eps"),
};
const size_t tm_n_rows = sizeof(tm_rows) / sizeof(tm_rows[0]);

const struct tm_missing tm_missing[] = {
	{0, "Accuracy"},
	{24, "ROIPooling"},
	{25, "RPN"},
	{30, "DetectionPostProcess"},
	{32, "Generic"},
	{39, "Fused.BNScaleReLu"},
	{52, "SpaceToBatchND"},
	{53, "BatchToSpaceND"},
	{57, "Roialign"},
	{58, "Psroipooling"},
	{82, "SparseToDense"},
	{98, "L2Pool"},
	{105, "SpatialTransformer"},
	{0, NULL},
};
