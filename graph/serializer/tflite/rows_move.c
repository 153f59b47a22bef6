/* Operators that move elements, make tensors, or return shapes. */
#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/serializer/build/compose.h"
#include "graph/serializer/tflite/layer.h"

/* The shape is an input, or in the options of old files. An extent of 0 is empty. */
static modser_sg_tensor *load_reshape(const struct tflite_layer *x)
{
	modser_sg_tensor *in[] = {tflite_value(x, 0), NULL};

	if (in[0] == NULL)
		return NULL;
	if (tflite_has(x, 1)) {
		in[1] = tflite_cast(x, tflite_value(x, 1), "int64");
	} else {
		const struct flat_vector v = flat_vector(x->f, &x->options, 0, 4);
		int64_t dims[MODSER_GRAPH_MAX_NDIM];

		if (v.n > MODSER_GRAPH_MAX_NDIM)
			return tflite_fail(x, "its shape has %zu dimensions", v.n);
		for (size_t i = 0; i < v.n; i++)
			dims[i] = flat_at_i32(&v, i);
		in[1] = msd_build_ints(&x->b, dims, v.n);
	}
	modser_sg_tensor *t = msd_build_node(&x->b, "Reshape", in, 2);
	t = msd_build_int(msd_build_int(t, "is_onnx", 1), "allowzero", 1);
	return msd_build_done(t);
}

static modser_sg_tensor *with_axes(const struct tflite_layer *x, const char *op,
				   modser_sg_tensor *t, const int64_t *axes, size_t n)
{
	modser_sg_tensor *made = msd_build_node(&x->b, op, &t, 1);

	return msd_build_done(n > 0 ? msd_build_list(made, "axes", axes, n) : made);
}

static modser_sg_tensor *load_squeeze(const struct tflite_layer *x)
{
	const struct flat_vector v = flat_vector(x->f, &x->options, 0, 4);
	int64_t axes[MODSER_GRAPH_MAX_NDIM];

	if (v.n > MODSER_GRAPH_MAX_NDIM)
		return tflite_fail(x, "it removes %zu axes", v.n);
	for (size_t i = 0; i < v.n; i++)
		axes[i] = flat_at_i32(&v, i);
	return with_axes(x, "Squeeze", tflite_value(x, 0), axes, v.n);
}

static modser_sg_tensor *load_expand_dims(const struct tflite_layer *x)
{
	int64_t axis[1] = {0};
	size_t n;

	if (!tflite_ints(x, 1, axis, 1, &n))
		return NULL;
	return with_axes(x, "Unsqueeze", tflite_value(x, 0), axis, 1);
}

static modser_sg_tensor *load_transpose(const struct tflite_layer *x)
{
	int64_t perm[MODSER_GRAPH_MAX_NDIM];
	size_t n;

	if (!tflite_ints(x, 1, perm, MODSER_GRAPH_MAX_NDIM, &n))
		return NULL;
	return msd_build_transpose(&x->b, tflite_value(x, 0), perm, n);
}

/* Channels of planes that all inputs have, or the values along any axis. TensorFlow
 * Lite ignores the activation in the options. */
static modser_sg_tensor *load_concatenation(const struct tflite_layer *x)
{
	modser_sg_tensor *t = NULL;
	size_t axis;

	if (!tflite_axis(x, 0, flat_i32(x->f, &x->options, 0, 0), &axis))
		return NULL;
	bool is_planes = axis == 3;
	for (size_t i = 0; i < x->in.n; i++) {
		modser_sg_tensor *value = tflite_value(x, i);

		if (value == NULL)
			return NULL;
		is_planes = is_planes && tflite_planes_of(value) != NULL;
	}
	for (size_t i = 0; i < x->in.n; i++) {
		modser_sg_tensor *value = tflite_value(x, i);
		modser_sg_tensor *part = is_planes ? tflite_planes_of(value) : value;

		if (t == NULL) {
			t = msd_build_node(&x->b, "Concat", &part, 1);
			if (t == NULL)
				return NULL;
		} else if (modser_sg_node_add_input(t->producer, part) < 0) {
			return NULL;
		}
	}
	t = msd_build_done(msd_build_int(t, "axis", is_planes ? 1 : (int64_t)axis));
	return is_planes ? tflite_unplane(&x->b, t) : t;
}

static modser_sg_tensor *load_pack(const struct tflite_layer *x)
{
	const int64_t ndim = (int64_t)tflite_ndim(x, 0) + 1;
	const int64_t given = flat_i32(x->f, &x->options, 1, 0);
	const int64_t axis = given < 0 ? given + ndim : given;
	modser_sg_tensor **parts = calloc(x->in.n, sizeof(modser_sg_tensor *));
	modser_sg_tensor *t = NULL;
	size_t n = 0;

	if (parts == NULL) {
		(void)msd_sg_no_memory(x->b.g);
	} else if (axis < 0 || axis >= ndim) {
		(void)tflite_fail(x, "axis %d of %d", (int)given, (int)ndim);
	} else {
		do {
			parts[n] =
				with_axes(x, "Unsqueeze", tflite_value(x, n), &axis, 1);
		} while (parts[n] != NULL && ++n < x->in.n);
	}
	if (n == x->in.n) {
		t = msd_build_node(&x->b, "Concat", parts, n);
		t = msd_build_done(msd_build_int(t, "axis", axis));
	}
	free(parts);
	return t;
}

/* Pieces of input @i along @axis, one for each output. */
static int split(const struct tflite_layer *x, size_t i, int64_t axis,
		 const int64_t *sizes, size_t n_sizes, modser_sg_tensor **ret)
{
	modser_sg_tensor *value = tflite_value(x, i);
	size_t at;

	if (value == NULL || !tflite_axis(x, i, axis, &at))
		return -1;
	modser_sg_tensor *t = msd_build_node(&x->b, "Split", &value, 1);
	t = msd_build_int(msd_build_int(t, "axis", (int64_t)at), "is_onnx", 1);
	if (sizes != NULL)
		t = msd_build_list(t, "sizes", sizes, n_sizes);
	for (size_t k = 1; t != NULL && k < x->out.n; k++) {
		ret[k] = msd_build_output(&x->b, t);
		if (ret[k] == NULL)
			return -1;
	}
	ret[0] = msd_build_done(t);
	return ret[0] != NULL ? 0 : -1;
}

static int load_split(const struct tflite_layer *x, modser_sg_tensor **ret)
{
	int64_t axis[1] = {0};
	size_t n;

	if (!tflite_ints(x, 0, axis, 1, &n))
		return -1;
	return split(x, 1, axis[0], NULL, 0, ret);
}

/* One size may be -1: the rest. */
static int load_split_v(const struct tflite_layer *x, modser_sg_tensor **ret)
{
	int64_t sizes[64];
	int64_t axis[1] = {0};
	int64_t left;
	size_t n;
	size_t n_axis;
	size_t at;

	if (!tflite_ints(x, 1, sizes, 64, &n) || !tflite_ints(x, 2, axis, 1, &n_axis) ||
	    !tflite_axis(x, 0, axis[0], &at))
		return -1;
	left = tflite_extent(x, 0, at);
	for (size_t i = 0; i < n; i++)
		left -= sizes[i] > 0 ? sizes[i] : 0;
	for (size_t i = 0; i < n; i++)
		sizes[i] = sizes[i] == -1 ? left : sizes[i];
	return split(x, 0, axis[0], sizes, n, ret);
}

static int load_unpack(const struct tflite_layer *x, modser_sg_tensor **ret)
{
	const int64_t given = flat_i32(x->f, &x->options, 1, 0);
	size_t at;

	if (!tflite_axis(x, 0, given, &at) || split(x, 0, given, NULL, 0, ret) != 0)
		return -1;
	const int64_t axis = (int64_t)at;
	for (size_t i = 0; i < x->out.n; i++) {
		ret[i] = with_axes(x, "Squeeze", ret[i], &axis, 1);
		if (ret[i] == NULL)
			return -1;
	}
	return 0;
}

static modser_sg_tensor *load_gather(const struct tflite_layer *x)
{
	modser_sg_tensor *value = tflite_value(x, 0);
	modser_sg_tensor *const in[] = {value,
					value != NULL ? tflite_value(x, 1) : NULL};

	if (flat_i32(x->f, &x->options, 1, 0) != 0)
		return tflite_fail(x, "batch_dims cannot be read");
	modser_sg_tensor *t = msd_build_node(&x->b, "Gather", in, 2);
	t = msd_build_int(t, "axis", flat_i32(x->f, &x->options, 0, 0));
	return msd_build_done(msd_build_int(t, "is_onnx", 1));
}

static modser_sg_tensor *load_gather_nd(const struct tflite_layer *x)
{
	modser_sg_tensor *value = tflite_value(x, 0);

	return msd_build_two(&x->b, "GatherND", value,
			     value != NULL ? tflite_cast(x, tflite_value(x, 1), "int64")
					   : NULL);
}

/* Rows of input 1. */
static modser_sg_tensor *load_embedding(const struct tflite_layer *x)
{
	modser_sg_tensor *table = tflite_value(x, 1);
	modser_sg_tensor *const in[] = {table,
					table != NULL ? tflite_value(x, 0) : NULL};
	modser_sg_tensor *t = msd_build_node(&x->b, "Gather", in, 2);

	return msd_build_done(msd_build_int(t, "is_onnx", 1));
}

static modser_sg_tensor *mirror(const struct tflite_layer *x)
{
	modser_sg_tensor *t = tflite_value(x, 0);
	int64_t pads[2 * MODSER_GRAPH_MAX_NDIM];
	size_t n;

	if (t == NULL || !tflite_ints(x, 1, pads, 2 * MODSER_GRAPH_MAX_NDIM, &n))
		return NULL;
	for (size_t i = 0; i < n / 2; i++) {
		t = msd_build_mirror(&x->b, t, (int64_t)i, pads[2 * i],
				     pads[2 * i + 1]);
	}
	return t;
}

/* Constant amounts for planes: NULL without an error if the input is none. */
static modser_sg_tensor *planes_amounts(const struct tflite_layer *x,
					const modser_sg_tensor *value)
{
	static const size_t from[] = {0, 3, 1, 2};
	int64_t pads[2 * MODSER_GRAPH_MAX_NDIM];
	int64_t turned[8];
	size_t n;

	if (tflite_planes_of(value) == NULL || !tflite_is_constant(x, 1) ||
	    !tflite_ints(x, 1, pads, 2 * MODSER_GRAPH_MAX_NDIM, &n) || n != 8)
		return NULL;
	for (size_t i = 0; i < 4; i++) {
		turned[i] = pads[2 * from[i]];
		turned[4 + i] = pads[2 * from[i] + 1];
	}
	return msd_build_ints(&x->b, turned, 8);
}

/* The file has [axis][before, after], the operator all before and then all after. */
static modser_sg_tensor *amounts(const struct tflite_layer *x)
{
	static const int64_t perm[] = {1, 0};
	static const int64_t flat[] = {-1};
	modser_sg_tensor *pads = tflite_cast(x, tflite_value(x, 1), "int64");

	pads = msd_build_transpose(&x->b, pads, perm, 2);
	return msd_build_reshape(&x->b, pads, flat, 1);
}

static modser_sg_tensor *load_pad(const struct tflite_layer *x)
{
	enum { CONSTANT = 0, REFLECT = 2, SYMMETRIC = 1 };

	if (x->row->type != 0 && flat_u8(x->f, &x->options, 0, 0) == SYMMETRIC)
		return mirror(x);
	modser_sg_tensor *value = tflite_value(x, 0);
	modser_sg_tensor *turned = value != NULL ? planes_amounts(x, value) : NULL;
	if (value == NULL || x->b.g->diag.code != MSD_OK)
		return NULL;
	modser_sg_tensor *in[] = {turned != NULL ? tflite_planes_of(value) : value,
				  turned != NULL ? turned : amounts(x), NULL};
	if (tflite_has(x, 2) && (in[2] = tflite_value(x, 2)) == NULL)
		return NULL;
	modser_sg_tensor *t =
		msd_build_node(&x->b, "Pad", in, tflite_has(x, 2) ? 3 : 2);
	t = msd_build_done(
		msd_build_int(t, "mode", x->row->type != 0 ? REFLECT : CONSTANT));
	return turned != NULL ? tflite_unplane(&x->b, t) : t;
}

static modser_sg_tensor *load_tile(const struct tflite_layer *x)
{
	modser_sg_tensor *value = tflite_value(x, 0);

	return msd_build_two(&x->b, "Tile", value,
			     value != NULL ? tflite_cast(x, tflite_value(x, 1), "int64")
					   : NULL);
}

static modser_sg_tensor *load_broadcast_to(const struct tflite_layer *x)
{
	modser_sg_tensor *value = tflite_value(x, 0);

	return msd_build_two(&x->b, "Expand", value,
			     value != NULL ? tflite_cast(x, tflite_value(x, 1), "int64")
					   : NULL);
}

static modser_sg_tensor *load_fill(const struct tflite_layer *x)
{
	modser_sg_tensor *value = tflite_value(x, 1);

	return msd_build_two(&x->b, "Expand", value,
			     value != NULL ? tflite_cast(x, tflite_value(x, 0), "int64")
					   : NULL);
}

static modser_sg_tensor *load_zeros_like(const struct tflite_layer *x)
{
	modser_sg_tensor *value = tflite_value(x, 0);
	modser_sg_tensor *zero =
		value != NULL
			? tflite_cast(x, msd_build_number(&x->b, 0), value->dtype_name)
			: NULL;

	return msd_build_two(&x->b, "Expand", zero,
			     msd_build_one(&x->b, "Shape", value));
}

static modser_sg_tensor *load_shape(const struct tflite_layer *x)
{
	return tflite_cast(x, msd_build_one(&x->b, "Shape", tflite_value(x, 0)),
			   tflite_out_dtype(x, 0));
}

static modser_sg_tensor *load_rank(const struct tflite_layer *x)
{
	const int64_t rank = (int64_t)tflite_ndim(x, 0);
	modser_sg_tensor *t = msd_build_ints(&x->b, &rank, 1);

	t = msd_build_reshape(&x->b, t, NULL, 0);
	return tflite_cast(x, t, tflite_out_dtype(x, 0));
}

static modser_sg_tensor *load_range(const struct tflite_layer *x)
{
	modser_sg_tensor *in[3] = {NULL};

	for (size_t i = 0; i < 3; i++) {
		in[i] = tflite_value(x, i);
		if (in[i] == NULL)
			return NULL;
	}
	return msd_build_done(msd_build_node(&x->b, "Range", in, 3));
}

/* The places of what is not zero, a row for each. */
static modser_sg_tensor *load_where(const struct tflite_layer *x)
{
	static const int64_t perm[] = {1, 0};
	modser_sg_tensor *t = msd_build_one(&x->b, "NonZero", tflite_value(x, 0));

	return tflite_cast(x, msd_build_transpose(&x->b, t, perm, 2),
			   tflite_out_dtype(x, 0));
}

/* Inputs are indices, their number, and the values for hit and miss. */
static modser_sg_tensor *load_one_hot(const struct tflite_layer *x)
{
	static const int64_t one[] = {1};
	modser_sg_tensor *in[4] = {NULL};

	for (size_t i = 0; i < 4; i++) {
		in[i] = tflite_value(x, i);
		if (in[i] == NULL)
			return NULL;
	}
	modser_sg_tensor *const both[] = {msd_build_reshape(&x->b, in[3], one, 1),
					  msd_build_reshape(&x->b, in[2], one, 1)};
	modser_sg_tensor *values = msd_build_node(&x->b, "Concat", both, 2);
	values = msd_build_done(msd_build_int(values, "axis", 0));
	modser_sg_tensor *const all[] = {in[0], in[1], values};
	modser_sg_tensor *t = msd_build_node(&x->b, "OneHot", all, 3);
	return msd_build_done(
		msd_build_int(t, "axis", flat_i32(x->f, &x->options, 0, 0)));
}

const struct tflite_row tflite_rows_move[] = {
	{2, "CONCATENATION", 1, TFLITE_MANY, .one = load_concatenation},
	{7, "EMBEDDING_LOOKUP", 2, 2, .one = load_embedding},
	{22, "RESHAPE", 1, 2, .one = load_reshape},
	{34, "PAD", 2, 2, .one = load_pad},
	{36, "GATHER", 2, 2, .one = load_gather},
	{39, "TRANSPOSE", 2, 2, .one = load_transpose},
	{43, "SQUEEZE", 1, 1, .one = load_squeeze},
	{49, "SPLIT", 2, 2, .many = load_split},
	{60, "PADV2", 3, 3, .one = load_pad},
	{69, "TILE", 2, 2, .one = load_tile},
	{70, "EXPAND_DIMS", 2, 2, .one = load_expand_dims},
	{77, "SHAPE", 1, 1, .one = load_shape},
	{83, "PACK", 1, TFLITE_MANY, .one = load_pack},
	{85, "ONE_HOT", 4, 4, .one = load_one_hot},
	{88, "UNPACK", 1, 1, .many = load_unpack},
	{93, "ZEROS_LIKE", 1, 1, .one = load_zeros_like},
	{94, "FILL", 2, 2, .one = load_fill},
	{96, "RANGE", 3, 3, .one = load_range},
	{100, "MIRROR_PAD", 2, 2, .one = load_pad, .type = 1},
	{102, "SPLIT_V", 3, 3, .many = load_split_v},
	{107, "GATHER_ND", 2, 2, .one = load_gather_nd},
	{109, "WHERE", 1, 1, .one = load_where},
	{110, "RANK", 1, 1, .one = load_rank},
	{130, "BROADCAST_TO", 2, 2, .one = load_broadcast_to},
	{0},
};
