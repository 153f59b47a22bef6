/* Convolutions, poolings, and operators on regions. Two axes are stored in Tengine's
 * fields, one or three in lists. */
#include <string.h>

#include "graph/serializer/onnx/rows/row.h"

#define MAX_AXES 3u

/* The number of spatial axes, from the first source that gives it. */
static size_t count_axes(const struct onnx_node *n)
{
	static const char *const lists[] = {"kernel_shape", "strides", "dilations"};
	const Onnx__AttributeProto *pads = onnx_attr(n, "pads");
	int ndim;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const Onnx__AttributeProto *a = onnx_attr(n, lists[i]);

		if (a != NULL && a->n_ints > 0)
			return a->n_ints;
	}
	if (pads != NULL && pads->n_ints > 0)
		return pads->n_ints / 2;
	ndim = onnx_input_ndim(n,
			       strcmp(n->proto->op_type, "QLinearConv") == 0 ? 3 : 1);
	if (ndim < 0)
		ndim = onnx_input_ndim(n, 0);
	return ndim >= 3 ? (size_t)ndim - 2 : 2;
}

/* An attribute and its target: a list, or the fields for height and width. */
struct names {
	const char *attr;
	const char *list;
	const char *hw[2]; /* NULL: none */
};
static const struct names kernel = {"kernel_shape", "kernel", {"kernel_h", "kernel_w"}};
static const struct names strides = {"strides", "strides", {"stride_h", "stride_w"}};
static const struct names dilations = {
	"dilations", "dilations", {"dilation_h", "dilation_w"}};
static const struct names pool_dilations = {"dilations", "dilations", {NULL, NULL}};
static const struct names extras = {
	"output_padding", "output_padding", {"output_pad_h0", "output_pad_w0"}};

static int set_list(const struct onnx_node *n, size_t axes, const struct names *names,
		    int64_t otherwise)
{
	const Onnx__AttributeProto *a = onnx_attr(n, names->attr);
	int64_t values[MAX_AXES] = {otherwise, otherwise, otherwise};

	if (a != NULL && a->n_ints > 0 && a->n_ints != axes) {
		return onnx_fail(n, "%s has %zu numbers, expected %zu", names->attr,
				 a->n_ints, axes);
	}
	for (size_t i = 0; a != NULL && i < a->n_ints; i++)
		values[i] = a->ints[i];
	if (axes != 2 || names->hw[0] == NULL)
		return onnx_set_ints(n, names->list, values, axes);
	if (onnx_set_int(n, names->hw[0], values[0]) != 0)
		return -1;
	return onnx_set_int(n, names->hw[1], values[1]);
}

static int set_pads(const struct onnx_node *n, size_t axes, int64_t otherwise)
{
	static const char *const fields[] = {"pad_h0", "pad_w0", "pad_h1", "pad_w1"};
	const Onnx__AttributeProto *a = onnx_attr(n, "pads");
	int64_t values[2 * MAX_AXES];

	if (a != NULL && a->n_ints > 0 && a->n_ints != 2 * axes) {
		return onnx_fail(n, "pads has %zu numbers, expected %zu", a->n_ints,
				 2 * axes);
	}
	for (size_t i = 0; i < 2 * axes; i++) {
		const bool is_given = otherwise == 0 && a != NULL && a->n_ints > 0;

		values[i] = is_given ? a->ints[i] : otherwise;
	}
	if (axes != 2)
		return onnx_set_ints(n, "pads", values, 2 * axes);
	for (size_t i = 0; i < 4; i++) {
		if (onnx_set_int(n, fields[i], values[i]) != 0)
			return -1;
	}
	return 0;
}

/* 0: explicit pads; 1 and 2: same extent, odd padding at the end or at the start; -1:
 * no padding. */
static int64_t auto_pad(const struct onnx_node *n)
{
	if (onnx_attr_is(n, "auto_pad", "SAME_UPPER"))
		return 1;
	if (onnx_attr_is(n, "auto_pad", "SAME_LOWER"))
		return 2;
	return onnx_attr_is(n, "auto_pad", "VALID") ? -1 : 0;
}

static int check_axes(const struct onnx_node *n, size_t axes)
{
	if (axes >= 1 && axes <= MAX_AXES)
		return 0;
	return onnx_fail(n, "windows of %zu axes cannot be read; 1 to 3 can", axes);
}

/* Tengine marks same extents in the padding itself. */
static int load_conv(struct onnx_node *n)
{
	const size_t axes = count_axes(n);
	const int64_t pad = auto_pad(n);

	if (check_axes(n, axes) != 0 || set_list(n, axes, &kernel, 0) != 0 ||
	    set_list(n, axes, &strides, 1) != 0 ||
	    set_list(n, axes, &dilations, 1) != 0)
		return -1;
	if (pad < 0) /* VALID, whatever pads contains */
		return 0;
	return set_pads(n, axes, -pad);
}

static int load_deconv(struct onnx_node *n)
{
	const Onnx__AttributeProto *shape = onnx_attr(n, "output_shape");
	const size_t axes = count_axes(n);
	const int64_t pad = auto_pad(n);

	if (check_axes(n, axes) != 0 || set_list(n, axes, &kernel, 0) != 0 ||
	    set_list(n, axes, &strides, 1) != 0 ||
	    set_list(n, axes, &dilations, 1) != 0 || set_list(n, axes, &extras, 0) != 0)
		return -1;
	if (shape != NULL &&
	    onnx_set_ints(n, "output_shape", shape->ints, shape->n_ints) != 0)
		return -1;
	if (pad != 0)
		return pad > 0 ? onnx_set_int(n, "auto_pad", pad) : 0;
	return set_pads(n, axes, 0);
}

static int load_pool(struct onnx_node *n)
{
	const size_t axes = count_axes(n);
	const int64_t pad = auto_pad(n);

	if (check_axes(n, axes) != 0 || set_list(n, axes, &kernel, 1) != 0 ||
	    set_list(n, axes, &strides, 1) != 0)
		return -1;
	if (onnx_attr(n, "dilations") != NULL &&
	    set_list(n, axes, &pool_dilations, 1) != 0)
		return -1;
	if (onnx_attr_int(n, "count_include_pad", 0) != 0 &&
	    onnx_set_int(n, "caffe_flavor", 0x10) != 0)
		return -1;
	if (pad != 0)
		return pad > 0 ? onnx_set_int(n, "auto_pad", pad) : 0;
	return set_pads(n, axes, 0);
}

/* Later versions name the modes as Resize does. */
static int load_grid_sample(struct onnx_node *n)
{
	if (onnx_attr(n, "mode") == NULL || onnx_attr_is(n, "mode", "linear"))
		return onnx_set_text(n, "mode", "bilinear");
	return onnx_attr_is(n, "mode", "cubic") ? onnx_set_text(n, "mode", "bicubic")
						: 0;
}

/* Up to opset 15 coordinates are not shifted by half an element. */
static int load_roi_align(struct onnx_node *n)
{
	return onnx_set_text(n, "coordinate_transformation_mode", "output_half_pixel");
}

#define WINDOW "-kernel_shape -strides -pads -dilations -auto_pad "
#define ROI "mode output_height output_width sampling_ratio spatial_scale"
const struct onnx_row onnx_rows_window[] = {
	{"Conv", 1, "Convolution", WINDOW "group:1", load_conv},
	{"ConvInteger", 10, "ConvInteger", WINDOW "group:1", load_conv},
	{"QLinearConv", 10, "QLinearConv", WINDOW "group:1", load_conv},
	{"ConvTranspose", 1, "Deconvolution",
	 WINDOW "group:1 -output_padding -output_shape", load_deconv},
	{"DeformConv", 19, "DeformConv",
	 "-kernel_shape -strides -pads -dilations group:1 offset_group:1", load_conv},
	{"AveragePool", 1, "Pooling", WINDOW "alg:=1 ceil_mode:0 -count_include_pad",
	 load_pool},
	{"MaxPool", 1, "Pooling", WINDOW "alg:=0 ceil_mode:0 storage_order:0",
	 load_pool},
	{"LpPool", 1, "Pooling", WINDOW "alg:=2 ceil_mode:0 p:2", load_pool},
	{"GlobalLpPool", 1, "Pooling", "alg:=2 global:=1 p:2", NULL},
	{"GlobalAveragePool", 1, "Pooling", "alg:=1 global:=1", NULL},
	{"GlobalMaxPool", 1, "Pooling", "alg:=0 global:=1", NULL},
	{"GridSample", 16, "GridSample", "mode padding_mode align_corners", NULL},
	{"GridSample", 20, "GridSample", "mode padding_mode align_corners",
	 load_grid_sample},
	{"AffineGrid", 20, "AffineGrid", "align_corners", NULL},
	{"CenterCropPad", 18, "CenterCropPad", "axes", NULL},
	{"Col2Im", 18, "Col2Im", "dilations pads strides", NULL},
	{"MaxUnpool", 9, "MaxUnpool", "kernel_shape! strides pads", NULL},
	{"NonMaxSuppression", 10, "NonMaxSuppression", "center_point_box", NULL},
	{"RoiAlign", 10, "RoiAlign", ROI, load_roi_align},
	{"RoiAlign", 16, "RoiAlign", ROI " coordinate_transformation_mode", NULL},
	{0},
};
