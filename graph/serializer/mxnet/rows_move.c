/* Operators that move elements or make tensors. */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/build/compose.h"
#include "graph/serializer/mxnet/layer.h"

static modser_sg_tensor *load_flatten(struct mxnet_layer *x)
{
	modser_sg_tensor *t = msd_build_node(&x->b, "Flatten", &x->in[0].t, 1);

	x->ndim = 2;
	return msd_build_done(
		msd_build_int(msd_build_int(t, "axis", 1), "end_axis", -1));
}

/* With reverse, 0 copies the extent that is as far from the end. */
static modser_sg_tensor *reshape_from_end(struct mxnet_layer *x, const int64_t *codes,
					  size_t n)
{
	const int64_t shift = x->in[0].ndim - (int64_t)n;
	modser_sg_tensor *shape = msd_build_one(&x->b, "Shape", x->in[0].t);
	modser_sg_tensor *parts[MXNET_MAX_LIST];

	for (size_t i = 0; i < n; i++) {
		const int64_t from = shift + (int64_t)i;

		if (codes[i] < -1 ||
		    (codes[i] == 0 && (from < 0 || x->in[0].ndim < 0))) {
			return mxnet_fail(x, "reverse with %d cannot be read",
					  (int)codes[i]);
		}
		parts[i] = codes[i] == 0
				   ? msd_build_range(&x->b, shape, 0, from, from + 1)
				   : msd_build_ints(&x->b, &codes[i], 1);
	}
	modser_sg_tensor *const in[] = {x->in[0].t,
					msd_build_concat(&x->b, parts, n, 0)};
	x->ndim = (int)n;
	return msd_build_done(
		msd_build_int(msd_build_node(&x->b, "Reshape", in, 2), "is_onnx", 1));
}

/* A parameter as a vector, which recurrent layers join. */
static modser_sg_tensor *flat_copy(struct mxnet_layer *x)
{
	const modser_sg_tensor *t = x->in[0].t;
	const size_t element = t->dtype.bits >= 8 ? t->dtype.bits / 8u : 1;
	const int64_t dims[] = {(int64_t)(t->bytes / element)};
	void *own = malloc((size_t)t->bytes + 1);

	if (own == NULL) {
		(void)msd_sg_no_memory(x->b.g);
		return NULL;
	}
	if (t->bytes > 0)
		memcpy(own, t->data, (size_t)t->bytes);
	modser_sg_tensor *made =
		msd_build_constant(&x->b, t->dtype_name, dims, 1, own, free);
	if (made == NULL)
		free(own);
	x->ndim = 1;
	return made;
}

/* MXNet's codes: 0 copies an extent, -1 is the rest, -2 copies all that follow, -3
 * joins two, -4 splits one into the two that follow. */
static modser_sg_tensor *load_reshape(struct mxnet_layer *x)
{
	int64_t codes[MXNET_MAX_LIST];
	size_t n;
	int ndim = 0;
	bool is_open = false;

	if (!mxnet_list(x, "shape", codes, &n))
		return NULL;
	if (n == 0)
		return mxnet_fail(x, "it has no shape");
	if (mxnet_bool(x, "reverse", false))
		return reshape_from_end(x, codes, n);
	if (n == 1 && codes[0] == -1 && x->in[0].t->type == MODSER_TENSOR_CONST)
		return flat_copy(x);
	for (size_t i = 0; i < n; i++) {
		is_open = is_open || codes[i] == -2;
		ndim += codes[i] != -4;
	}
	x->ndim = is_open ? -1 : ndim;
	modser_sg_tensor *t = msd_build_node(&x->b, "Reshape", &x->in[0].t, 1);
	t = msd_build_list(t, "re_shape", codes, n);
	return msd_build_done(msd_build_int(t, "is_mxnet", 1));
}

static modser_sg_tensor *load_transpose(struct mxnet_layer *x)
{
	int64_t perm[MXNET_MAX_LIST];
	size_t n;

	if (!mxnet_list(x, "axes", perm, &n))
		return NULL;
	if (n == 0)
		return msd_build_one(&x->b, "Transpose", x->in[0].t);
	x->ndim = (int)n;
	return msd_build_transpose(&x->b, x->in[0].t, perm, n);
}

static modser_sg_tensor *load_swap_axes(struct mxnet_layer *x)
{
	const int64_t ndim = x->in[0].ndim;
	int64_t a;
	int64_t b;

	if (!mxnet_int(x, "dim1", 0, &a) || !mxnet_int(x, "dim2", 0, &b))
		return NULL;
	if (ndim < 0)
		return mxnet_fail(x, "the dimensions of its input are not known");
	a += a < 0 ? ndim : 0;
	b += b < 0 ? ndim : 0;
	if (a < 0 || a >= ndim || b < 0 || b >= ndim)
		return mxnet_fail(x, "its input has %d dimensions", (int)ndim);
	return mxnet_swap(x, x->in[0].t, (size_t)ndim, (size_t)a, (size_t)b);
}

static modser_sg_tensor *load_expand_dims(struct mxnet_layer *x)
{
	int64_t axis;

	if (!mxnet_int(x, "axis", 0, &axis))
		return NULL;
	x->ndim += x->ndim >= 0;
	return mxnet_with_axes(x, "Unsqueeze", x->in[0].t, &axis, 1);
}

static modser_sg_tensor *load_squeeze(struct mxnet_layer *x)
{
	int64_t axes[MXNET_MAX_LIST];
	size_t n;

	if (!mxnet_list(x, "axis", axes, &n))
		return NULL;
	x->ndim = n > 0 && x->ndim > (int)n ? x->ndim - (int)n : -1;
	return mxnet_with_axes(x, "Squeeze", x->in[0].t, axes, n);
}

static modser_sg_tensor *concat(const struct mxnet_layer *x,
				modser_sg_tensor *const *in, int64_t axis)
{
	return msd_build_concat(&x->b, in, x->n_in, axis);
}

static modser_sg_tensor *load_concat(struct mxnet_layer *x)
{
	modser_sg_tensor *in[MXNET_MAX_OUT];
	int64_t axis;

	if (!mxnet_int(x, "dim", 1, &axis))
		return NULL;
	if (x->n_in > MXNET_MAX_OUT)
		return mxnet_fail(x, "%zu inputs, at most 64 can be", x->n_in);
	for (size_t i = 0; i < x->n_in; i++)
		in[i] = x->in[i].t;
	return concat(x, in, axis);
}

static modser_sg_tensor *load_stack(struct mxnet_layer *x)
{
	modser_sg_tensor *in[MXNET_MAX_OUT];
	int64_t axis;

	if (!mxnet_int(x, "axis", 0, &axis))
		return NULL;
	if (x->n_in > MXNET_MAX_OUT)
		return mxnet_fail(x, "%zu inputs, at most 64 can be", x->n_in);
	for (size_t i = 0; i < x->n_in; i++) {
		in[i] = mxnet_with_axes(x, "Unsqueeze", x->in[i].t, &axis, 1);
		if (in[i] == NULL)
			return NULL;
	}
	x->ndim += x->ndim >= 0;
	return concat(x, in, axis);
}

static size_t load_split(struct mxnet_layer *x, modser_sg_tensor **ret, size_t max)
{
	int64_t axis;
	int64_t n;

	if (!mxnet_int(x, "axis", 1, &axis) || !mxnet_int(x, "num_outputs", 1, &n))
		return 0;
	if (n < 1 || (size_t)n > max) {
		(void)mxnet_fail(x, "%lld outputs, at most %zu can be", (long long)n,
				 max);
		return 0;
	}
	modser_sg_tensor *t = msd_build_node(&x->b, "Split", &x->in[0].t, 1);
	t = msd_build_int(msd_build_int(t, "axis", axis), "is_onnx", 1);
	for (int64_t i = 1; i < n; i++)
		ret[i] = msd_build_output(&x->b, t);
	ret[0] = msd_build_done(t);
	if (ret[0] == NULL)
		return 0;
	if (!mxnet_bool(x, "squeeze_axis", false))
		return (size_t)n;
	for (int64_t i = 0; i < n; i++)
		ret[i] = mxnet_with_axes(x, "Squeeze", ret[i], &axis, 1);
	x->ndim -= x->ndim > 0;
	return (size_t)n;
}

/* Ranges of some axes. */
static modser_sg_tensor *slice(const struct mxnet_layer *x, const int64_t *begin,
			       const int64_t *end, const int64_t *axes,
			       const int64_t *steps, size_t n)
{
	modser_sg_tensor *const in[] = {x->in[0].t, msd_build_ints(&x->b, begin, n),
					msd_build_ints(&x->b, end, n),
					msd_build_ints(&x->b, axes, n),
					msd_build_ints(&x->b, steps, n)};
	modser_sg_tensor *t = msd_build_node(&x->b, "Slice", in, 5);

	return msd_build_done(msd_build_int(t, "isonnx", 1));
}

static modser_sg_tensor *load_slice_axis(struct mxnet_layer *x)
{
	static const int64_t step = 1;
	int64_t axis;
	int64_t begin;
	int64_t end;

	if (!mxnet_int(x, "axis", 0, &axis) || !mxnet_int(x, "begin", 0, &begin) ||
	    !mxnet_int(x, "end", 0, &end))
		return NULL;
	if (mxnet_attr(x->node, "end") == NULL)
		end = INT64_MAX;
	return slice(x, &begin, &end, &axis, &step, 1);
}

static modser_sg_tensor *load_slice(struct mxnet_layer *x)
{
	int64_t begin[MXNET_MAX_LIST];
	int64_t end[MXNET_MAX_LIST];
	int64_t step[MXNET_MAX_LIST];
	int64_t axes[MXNET_MAX_LIST];
	size_t n[3];

	if (!mxnet_list(x, "begin", begin, &n[0]) ||
	    !mxnet_list(x, "end", end, &n[1]) || !mxnet_list(x, "step", step, &n[2]))
		return NULL;
	if (n[0] == 0 || n[1] != n[0] || (n[2] != 0 && n[2] != n[0]))
		return mxnet_fail(x, "its lists are not of one length");
	for (size_t i = 0; i < n[0]; i++) {
		step[i] = n[2] == 0 || step[i] == MXNET_NONE ? 1 : step[i];
		if (begin[i] == MXNET_NONE)
			begin[i] = step[i] < 0 ? INT64_MAX : 0;
		if (end[i] == MXNET_NONE)
			end[i] = step[i] < 0 ? INT64_MIN : INT64_MAX;
		axes[i] = (int64_t)i;
	}
	return slice(x, begin, end, axes, step, n[0]);
}

/* Some axes are cut to the extents of input 1. */
static modser_sg_tensor *load_slice_like(struct mxnet_layer *x)
{
	int64_t axes[MXNET_MAX_LIST];
	int64_t zeros[MXNET_MAX_LIST] = {0};
	size_t n;

	if (!mxnet_list(x, "axes", axes, &n))
		return NULL;
	for (int i = 0; n == 0 && i < x->in[0].ndim; i++)
		axes[i] = i;
	n = n == 0 && x->in[0].ndim > 0 ? (size_t)x->in[0].ndim : n;
	if (n == 0)
		return mxnet_fail(x, "the dimensions of its input are not known");
	modser_sg_tensor *const pick[] = {msd_build_one(&x->b, "Shape", x->in[1].t),
					  msd_build_ints(&x->b, axes, n)};
	modser_sg_tensor *ends = msd_build_node(&x->b, "Gather", pick, 2);
	ends = msd_build_done(msd_build_int(ends, "is_onnx", 1));
	modser_sg_tensor *const in[] = {x->in[0].t, msd_build_ints(&x->b, zeros, n),
					ends, msd_build_ints(&x->b, axes, n)};
	modser_sg_tensor *t = msd_build_node(&x->b, "Slice", in, 4);
	return msd_build_done(msd_build_int(t, "isonnx", 1));
}

/* The file has (before, after) of each axis, the operator all before, then all after.
 */
static modser_sg_tensor *load_pad(struct mxnet_layer *x)
{
	static const char *const modes[] = {"constant", "edge", "reflect"};
	int64_t width[MXNET_MAX_LIST];
	int64_t pads[MXNET_MAX_LIST];
	double value;
	int64_t mode = -1;
	size_t n;

	if (!mxnet_list(x, "pad_width", width, &n) ||
	    !mxnet_float(x, "constant_value", 0, &value))
		return NULL;
	for (size_t i = 0; i < 3; i++)
		mode = mxnet_is(x, "mode", modes[i], "") ? (int64_t)i : mode;
	if (mode < 0 || n == 0 || n % 2 != 0)
		return mxnet_fail(x, "its mode or pad_width cannot be read");
	for (size_t i = 0; i < n / 2; i++) {
		pads[i] = width[2 * i];
		pads[n / 2 + i] = width[2 * i + 1];
	}
	modser_sg_tensor *const in[] = {x->in[0].t, msd_build_ints(&x->b, pads, n),
					msd_build_number(&x->b, (float)value)};
	modser_sg_tensor *t = msd_build_node(&x->b, "Pad", in, 3);
	return msd_build_done(msd_build_int(t, "mode", mode));
}

/* Rows of @table by @indices, which MXNet keeps as floats. */
static modser_sg_tensor *gather(const struct mxnet_layer *x, modser_sg_tensor *table,
				modser_sg_tensor *indices, int64_t axis)
{
	modser_sg_tensor *const in[] = {table, mxnet_cast(x, indices, "int64")};
	modser_sg_tensor *t = msd_build_node(&x->b, "Gather", in, 2);

	return msd_build_done(
		msd_build_int(msd_build_int(t, "axis", axis), "is_onnx", 1));
}

static modser_sg_tensor *load_embedding(struct mxnet_layer *x)
{
	x->ndim += x->ndim >= 0;
	return gather(x, x->in[1].t, x->in[0].t, 0);
}

static modser_sg_tensor *load_take(struct mxnet_layer *x)
{
	int64_t axis;

	if (!mxnet_int(x, "axis", 0, &axis))
		return NULL;
	x->ndim = x->in[0].ndim >= 0 && x->in[1].ndim >= 0
			  ? x->in[0].ndim + x->in[1].ndim - 1
			  : -1;
	return gather(x, x->in[0].t, x->in[1].t, axis);
}

static modser_sg_tensor *load_tile(struct mxnet_layer *x)
{
	int64_t reps[MXNET_MAX_LIST];
	size_t n;

	if (!mxnet_list(x, "reps", reps, &n))
		return NULL;
	if (x->in[0].ndim != (int)n)
		return mxnet_fail(x, "%zu numbers for %d dimensions", n, x->in[0].ndim);
	return msd_build_two(&x->b, "Tile", x->in[0].t, msd_build_ints(&x->b, reps, n));
}

/* An extent of 0 stays as it is; Expand stretches only extents of 1. */
static modser_sg_tensor *load_broadcast_to(struct mxnet_layer *x)
{
	int64_t shape[MXNET_MAX_LIST];
	size_t n;

	if (!mxnet_list(x, "shape", shape, &n))
		return NULL;
	for (size_t i = 0; i < n; i++)
		shape[i] = shape[i] == 0 ? 1 : shape[i];
	return msd_build_two(&x->b, "Expand", x->in[0].t,
			     msd_build_ints(&x->b, shape, n));
}

static modser_sg_tensor *load_broadcast_like(struct mxnet_layer *x)
{
	return msd_build_two(&x->b, "Expand", x->in[0].t,
			     msd_build_one(&x->b, "Shape", x->in[1].t));
}

static modser_sg_tensor *load_fill_like(struct mxnet_layer *x)
{
	return msd_build_two(&x->b, "Expand",
			     msd_build_number(&x->b, (float)x->row->type),
			     msd_build_one(&x->b, "Shape", x->in[0].t));
}

static modser_sg_tensor *load_fill(struct mxnet_layer *x)
{
	const char *dtype = mxnet_attr(x->node, "dtype");
	int64_t shape[MXNET_MAX_LIST];
	size_t n;

	if (!mxnet_list(x, "shape", shape, &n))
		return NULL;
	/* 0 is an extent that follows from other nodes, for which one is broadcast. */
	for (size_t i = 0; i < n; i++)
		shape[i] = shape[i] == 0 ? 1 : shape[i];
	x->ndim = (int)n;
	modser_sg_tensor *v = msd_build_number(&x->b, (float)x->row->type);
	return msd_build_two(&x->b, "Expand",
			     mxnet_cast(x, v, dtype != NULL ? dtype : "float32"),
			     msd_build_ints(&x->b, shape, n));
}

static modser_sg_tensor *load_one_hot(struct mxnet_layer *x)
{
	static const int64_t two[] = {2};
	double on;
	double off;
	int64_t depth;

	if (!mxnet_float(x, "on_value", 1, &on) ||
	    !mxnet_float(x, "off_value", 0, &off) || !mxnet_int(x, "depth", 0, &depth))
		return NULL;
	const float values[] = {(float)off, (float)on};
	modser_sg_tensor *const in[] = {mxnet_cast(x, x->in[0].t, "int64"),
					msd_build_ints(&x->b, &depth, 1),
					msd_build_floats(&x->b, values, two, 1)};
	x->ndim += x->ndim >= 0;
	return msd_build_done(msd_build_node(&x->b, "OneHot", in, 3));
}

static modser_sg_tensor *load_blocks(struct mxnet_layer *x)
{
	int64_t size;

	if (!mxnet_int(x, "block_size", 1, &size))
		return NULL;
	modser_sg_tensor *t = msd_build_node(&x->b, x->row->op, &x->in[0].t, 1);
	return msd_build_done(msd_build_int(t, "block_size", size));
}

static modser_sg_tensor *load_shape(struct mxnet_layer *x)
{
	x->ndim = 1;
	return msd_build_one(&x->b, "Shape", x->in[0].t);
}

const struct mxnet_row mxnet_rows_move[] = {
	{"Flatten", 1, 1, .one = load_flatten},
	{"flatten", 1, 1, .one = load_flatten},
	{"Reshape", 1, 1, .one = load_reshape},
	{"reshape", 1, 1, .one = load_reshape},
	{"transpose", 1, 1, .one = load_transpose},
	{"SwapAxis", 1, 1, .one = load_swap_axes},
	{"swapaxes", 1, 1, .one = load_swap_axes},
	{"expand_dims", 1, 1, .one = load_expand_dims},
	{"squeeze", 1, 1, .one = load_squeeze},
	{"Concat", 1, MXNET_MANY, .one = load_concat},
	{"concat", 1, MXNET_MANY, .one = load_concat},
	{"stack", 1, MXNET_MANY, .one = load_stack},
	{"SliceChannel", 1, 1, .many = load_split},
	{"split", 1, 1, .many = load_split},
	{"slice_axis", 1, 1, .one = load_slice_axis},
	{"slice", 1, 1, .one = load_slice},
	{"crop", 1, 1, .one = load_slice},
	{"slice_like", 2, 2, .one = load_slice_like},
	{"Pad", 1, 1, .one = load_pad},
	{"pad", 1, 1, .one = load_pad},
	{"Embedding", 2, 2, .one = load_embedding},
	{"take", 2, 2, .one = load_take},
	{"tile", 1, 1, .one = load_tile},
	{"broadcast_to", 1, 1, .one = load_broadcast_to},
	{"broadcast_like", 2, 2, .one = load_broadcast_like},
	{"zeros_like", 1, 1, .one = load_fill_like, .type = 0},
	{"ones_like", 1, 1, .one = load_fill_like, .type = 1},
	{"_zeros", 0, 0, .one = load_fill, .type = 0},
	{"_ones", 0, 0, .one = load_fill, .type = 1},
	{"one_hot", 1, 1, .one = load_one_hot},
	{"depth_to_space", 1, 1, .one = load_blocks, .op = "DepthToSpace"},
	{"space_to_depth", 1, 1, .one = load_blocks, .op = "SpaceToDepth"},
	{"shape_array", 1, 1, .one = load_shape},
	{0},
};
