/* Operators that reverse, repeat, choose, crop and resize, and parameters that several
 * nodes join. */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/build/compose.h"
#include "graph/serializer/mxnet/layer.h"

static modser_sg_tensor *load_reverse(struct mxnet_layer *x)
{
	int64_t axes[MXNET_MAX_LIST];
	int64_t begin[MXNET_MAX_LIST];
	int64_t end[MXNET_MAX_LIST];
	int64_t step[MXNET_MAX_LIST];
	size_t n;

	if (!mxnet_list(x, "axis", axes, &n))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		begin[i] = INT64_MAX;
		end[i] = INT64_MIN;
		step[i] = -1;
	}
	modser_sg_tensor *const in[] = {x->in[0].t, msd_build_ints(&x->b, begin, n),
					msd_build_ints(&x->b, end, n),
					msd_build_ints(&x->b, axes, n),
					msd_build_ints(&x->b, step, n)};
	return msd_build_done(
		msd_build_int(msd_build_node(&x->b, "Slice", in, 5), "isonnx", 1));
}

/* Each element of the axis, several times. */
static modser_sg_tensor *load_repeat(struct mxnet_layer *x)
{
	const int ndim = x->in[0].ndim;
	int64_t reps[MODSER_GRAPH_MAX_NDIM + 1];
	int64_t times[MODSER_GRAPH_MAX_NDIM];
	int64_t axis;
	int64_t n;

	if (!mxnet_int(x, "axis", 0, &axis) || !mxnet_int(x, "repeats", 1, &n))
		return NULL;
	axis += axis < 0 ? ndim : 0;
	if (mxnet_attr(x->node, "axis") == NULL || axis < 0 || axis >= ndim || n < 1 ||
	    ndim >= (int)MODSER_GRAPH_MAX_NDIM)
		return mxnet_fail(x, "it has no axis of its input");
	for (int i = 0; i < ndim; i++) {
		reps[i] = 1;
		times[i] = 1;
	}
	reps[ndim] = 1;
	reps[axis + 1] = n;
	times[axis] = n;
	/* the new axis behind it is repeated and joined with it */
	const int64_t behind = axis + 1;
	modser_sg_tensor *t = mxnet_with_axes(x, "Unsqueeze", x->in[0].t, &behind, 1);
	t = msd_build_two(&x->b, "Tile", t,
			  msd_build_ints(&x->b, reps, (size_t)ndim + 1));
	modser_sg_tensor *const in[] = {
		t,
		msd_build_two(&x->b, "Mul", msd_build_one(&x->b, "Shape", x->in[0].t),
			      msd_build_ints(&x->b, times, (size_t)ndim))};
	t = msd_build_node(&x->b, "Reshape", in, 2);
	return msd_build_done(msd_build_int(t, "is_onnx", 1));
}

/* The other input has a number for each row: takes the element with that number. */
static modser_sg_tensor *load_pick(struct mxnet_layer *x)
{
	const bool keeps = mxnet_bool(x, "keepdims", false);
	int64_t axis;

	if (!mxnet_int(x, "axis", -1, &axis))
		return NULL;
	if (x->in[0].ndim < 1 ||
	    (x->in[1].ndim != x->in[0].ndim - 1 && x->in[1].ndim != x->in[0].ndim))
		return mxnet_fail(x, "the dimensions of its inputs are not known");
	modser_sg_tensor *at = mxnet_cast(x, x->in[1].t, "int64");
	if (x->in[1].ndim < x->in[0].ndim)
		at = mxnet_with_axes(x, "Unsqueeze", at, &axis, 1);
	modser_sg_tensor *const in[] = {x->in[0].t, at};
	modser_sg_tensor *t = msd_build_node(&x->b, "GatherElements", in, 2);
	t = msd_build_done(msd_build_int(t, "axis", axis));
	if (keeps)
		return t;
	x->ndim = x->in[0].ndim - 1;
	return mxnet_with_axes(x, "Squeeze", t, &axis, 1);
}

/* Planes cut to the height and width of input 1, or to h_w. */
static modser_sg_tensor *load_crop(struct mxnet_layer *x)
{
	static const int64_t axes[] = {2, 3};
	int64_t offset[MXNET_MAX_LIST];
	int64_t size[MXNET_MAX_LIST];
	size_t n[2];

	if (!mxnet_list(x, "offset", offset, &n[0]) ||
	    !mxnet_list(x, "h_w", size, &n[1]))
		return NULL;
	if (n[0] == 0)
		offset[0] = offset[1] = 0;
	if (mxnet_bool(x, "center_crop", false) || (n[0] != 0 && n[0] != 2) ||
	    (x->n_in == 1 && n[1] != 2))
		return mxnet_fail(x, "center_crop, or its lists, cannot be read");
	modser_sg_tensor *begin = msd_build_ints(&x->b, offset, 2);
	modser_sg_tensor *extents =
		x->n_in > 1 ? msd_build_range(&x->b,
					      msd_build_one(&x->b, "Shape", x->in[1].t),
					      0, 2, 4)
			    : msd_build_ints(&x->b, size, 2);
	modser_sg_tensor *const in[] = {x->in[0].t, begin,
					msd_build_two(&x->b, "Add", begin, extents),
					msd_build_ints(&x->b, axes, 2)};
	return msd_build_done(
		msd_build_int(msd_build_node(&x->b, "Slice", in, 4), "isonnx", 1));
}

static modser_sg_tensor *load_resize(struct mxnet_layer *x)
{
	int64_t size[2];

	if (!mxnet_int(x, "height", 1, &size[0]) || !mxnet_int(x, "width", 1, &size[1]))
		return NULL;
	if (mxnet_attr(x->node, "scale_height") != NULL ||
	    mxnet_attr(x->node, "scale_width") != NULL ||
	    !mxnet_is(x, "mode", "size", "size") || x->n_in != 1)
		return mxnet_fail(x, "it can be read with height and width only");
	modser_sg_tensor *const parts[] = {
		msd_build_range(&x->b, msd_build_one(&x->b, "Shape", x->in[0].t), 0, 0,
				2),
		msd_build_ints(&x->b, size, 2)};
	modser_sg_tensor *sizes = msd_build_concat(&x->b, parts, 2, 0);
	modser_sg_tensor *t = msd_build_node(&x->b, "Resize", &x->in[0].t, 1);
	if (t == NULL || sizes == NULL ||
	    modser_sg_node_add_input(t->producer, NULL) < 0 ||
	    modser_sg_node_add_input(t->producer, NULL) < 0 ||
	    modser_sg_node_add_input(t->producer, sizes) < 0)
		return NULL;
	t = msd_build_text(t, "mode", "linear");
	return msd_build_done(msd_build_text(
		t, "coordinate_transformation_mode",
		mxnet_bool(x, "align_corners", true) ? "align_corners" : "half_pixel"));
}

static modser_sg_tensor *load_group_norm(struct mxnet_layer *x)
{
	modser_sg_tensor *in[] = {x->in[0].t, x->in[1].t, x->in[2].t};
	double eps;
	int64_t groups;

	if (!mxnet_float(x, "eps", 1e-5, &eps) ||
	    !mxnet_int(x, "num_groups", 1, &groups))
		return NULL;
	modser_sg_tensor *t = msd_build_node(&x->b, "GroupNorm", in, 3);
	t = msd_build_int(t, "num_groups", groups);
	return msd_build_done(msd_build_float(t, "eps", (float)eps));
}

/* Numbers from start, without a repetition. */
static modser_sg_tensor *load_arange(struct mxnet_layer *x)
{
	const char *dtype = mxnet_attr(x->node, "dtype");
	double start;
	double stop;
	double step;
	int64_t repeat;

	if (!mxnet_float(x, "start", 0, &start) || !mxnet_float(x, "stop", 0, &stop) ||
	    !mxnet_float(x, "step", 1, &step) || !mxnet_int(x, "repeat", 1, &repeat))
		return NULL;
	const double all = mxnet_attr(x->node, "stop") != NULL ? (stop - start) / step
							       : start / step;
	if (repeat != 1 || !(all >= 0 && all <= 1e6))
		return mxnet_fail(x, "its range cannot be read");
	start = mxnet_attr(x->node, "stop") != NULL ? start : 0;
	const int64_t n = (int64_t)all + ((double)(int64_t)all < all);
	float *v = malloc(((size_t)n + 1) * sizeof(*v));
	modser_sg_tensor *t = NULL;
	for (int64_t i = 0; v != NULL && i < n; i++)
		v[i] = (float)(start + step * (double)i);
	if (v == NULL) {
		(void)msd_sg_no_memory(x->b.g);
	} else {
		t = msd_build_floats(&x->b, v, &n, 1);
	}
	free(v);
	x->ndim = 1;
	return mxnet_cast(x, t, dtype != NULL ? dtype : "float32");
}

/* The elements of all inputs, one after another: parameters of a recurrent layer. */
static modser_sg_tensor *load_join(struct mxnet_layer *x)
{
	size_t bytes = 0;
	size_t at = 0;

	for (size_t i = 0; i < x->n_in; i++) {
		const modser_sg_tensor *t = x->in[i].t;

		if (t->type != MODSER_TENSOR_CONST ||
		    strcmp(t->dtype_name, "float32") != 0)
			return mxnet_fail(x, "input %zu is no parameter of float32", i);
		if (!msd_add_size(bytes, (size_t)t->bytes, &bytes))
			return mxnet_fail(x, "its parameters are too large");
	}
	uint8_t *own = malloc(bytes + 1);
	if (own == NULL) {
		(void)msd_sg_no_memory(x->b.g);
		return NULL;
	}
	for (size_t i = 0; i < x->n_in; at += (size_t)x->in[i++].t->bytes)
		memcpy(own + at, x->in[i].t->data, (size_t)x->in[i].t->bytes);
	const int64_t dims[] = {(int64_t)(bytes / sizeof(float))};
	x->ndim = 1;
	modser_sg_tensor *t = msd_build_constant(&x->b, "float32", dims, 1, own, free);
	if (t == NULL)
		free(own);
	return t;
}

const struct mxnet_row mxnet_rows_array[] = {
	{"Crop", 1, 2, .one = load_crop},
	{"GroupNorm", 3, 3, .one = load_group_norm},
	{"_arange", 0, 0, .one = load_arange},
	{"_contrib_BilinearResize2D", 1, 1, .one = load_resize},
	{"_rnn_param_concat", 1, MXNET_MANY, .one = load_join},
	{"flip", 1, 1, .one = load_reverse},
	{"pick", 2, 2, .one = load_pick},
	{"repeat", 1, 1, .one = load_repeat},
	{"reverse", 1, 1, .one = load_reverse},
	{0},
};
