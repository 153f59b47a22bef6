/* Reductions, searches along an axis, and products along one. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/op/reduce/reduce.h"
#include "graph/serializer/tflite/layer.h"

static modser_sg_tensor *reduce(const struct tflite_layer *x, modser_sg_tensor *value,
				int64_t type)
{
	int64_t axes[MODSER_GRAPH_MAX_NDIM];
	size_t n;

	if (value == NULL || !tflite_ints(x, 1, axes, MODSER_GRAPH_MAX_NDIM, &n))
		return NULL;
	if (n == 0)
		return value;
	modser_sg_tensor *t = msd_build_node(&x->b, "Reduction", &value, 1);
	t = msd_build_int(msd_build_list(t, "axes", axes, n), "type", type);
	return msd_build_done(
		msd_build_int(t, "keepdim", flat_u8(x->f, &x->options, 0, 0) != 0));
}

/* True if the axes of input 1 are height and width of images. */
static bool is_of_planes(const struct tflite_layer *x)
{
	int64_t axes[MODSER_GRAPH_MAX_NDIM];
	unsigned seen = 0;
	size_t n;

	if (tflite_ndim(x, 0) != 4 || !tflite_is_constant(x, 1) ||
	    !tflite_ints(x, 1, axes, MODSER_GRAPH_MAX_NDIM, &n) || n != 2)
		return false;
	for (size_t i = 0; i < n; i++) {
		const int64_t axis = axes[i] < 0 ? axes[i] + 4 : axes[i];

		seen |= axis == 1 || axis == 2 ? 1u << axis : 0;
	}
	return seen == 6;
}

static modser_sg_tensor *load_reduce(const struct tflite_layer *x)
{
	modser_sg_tensor *value = tflite_value(x, 0);

	return reduce(x, value, x->row->type);
}

/* The mean of each plane is a pool. */
static modser_sg_tensor *load_mean(const struct tflite_layer *x)
{
	static const int64_t axes[] = {2, 3};

	if (!is_of_planes(x))
		return x->b.g->diag.code == MSD_OK ? load_reduce(x) : NULL;
	modser_sg_tensor *planes = tflite_planes(x, 0);
	modser_sg_tensor *t = msd_build_node(&x->b, "Pooling", &planes, 1);

	t = msd_build_done(msd_build_int(msd_build_int(t, "alg", 1), "global", 1));
	if (flat_u8(x->f, &x->options, 0, 0) != 0)
		return tflite_unplane(&x->b, t);
	t = msd_build_node(&x->b, "Squeeze", &t, 1);
	return msd_build_done(msd_build_list(t, "axes", axes, 2));
}

/* Any and all: the largest and the smallest of 0 and 1. */
static modser_sg_tensor *load_logical_reduce(const struct tflite_layer *x)
{
	modser_sg_tensor *t = tflite_cast(x, tflite_value(x, 0), "int32");

	return tflite_cast(x, reduce(x, t, x->row->type), "bool");
}

static modser_sg_tensor *load_arg(const struct tflite_layer *x)
{
	modser_sg_tensor *value = tflite_value(x, 0);
	int64_t axis[1] = {0};
	size_t n;
	size_t at;

	if (value == NULL || !tflite_ints(x, 1, axis, 1, &n) ||
	    !tflite_axis(x, 0, axis[0], &at))
		return NULL;
	modser_sg_tensor *t = msd_build_node(&x->b, x->row->op, &value, 1);
	t = msd_build_int(msd_build_int(t, "axis", (int64_t)at), "keepdims", 0);
	return tflite_cast(x, msd_build_done(t), tflite_out_dtype(x, 0));
}

static int load_topk(const struct tflite_layer *x, modser_sg_tensor **ret)
{
	modser_sg_tensor *value = tflite_value(x, 0);
	modser_sg_tensor *const in[] = {
		value,
		value != NULL ? tflite_cast(x, tflite_value(x, 1), "int64") : NULL};
	const int64_t one[] = {1};

	if (x->out.n != 2 || in[1] == NULL)
		return -1;
	modser_sg_tensor *const reshaped[] = {value,
					      msd_build_reshape(&x->b, in[1], one, 1)};
	modser_sg_tensor *t = msd_build_node(&x->b, "TopKV2", reshaped, 2);
	modser_sg_tensor *indices = msd_build_output(&x->b, t);

	t = msd_build_int(msd_build_int(t, "axis", -1), "sorted", 1);
	ret[0] = indices != NULL ? msd_build_done(t) : NULL;
	ret[1] =
		ret[0] != NULL ? tflite_cast(x, indices, tflite_out_dtype(x, 1)) : NULL;
	return ret[1] != NULL ? 0 : -1;
}

static modser_sg_tensor *load_cumsum(const struct tflite_layer *x)
{
	modser_sg_tensor *value = tflite_value(x, 0);
	modser_sg_tensor *const in[] = {value,
					value != NULL ? tflite_value(x, 1) : NULL};
	modser_sg_tensor *t = msd_build_node(&x->b, "CumSum", in, 2);

	t = msd_build_int(t, "exclusive", flat_u8(x->f, &x->options, 0, 0) != 0);
	return msd_build_done(
		msd_build_int(t, "reverse", flat_u8(x->f, &x->options, 1, 0) != 0));
}

/* Rows of length 1, but no shorter than they are. */
static modser_sg_tensor *load_l2_norm(const struct tflite_layer *x)
{
	const int64_t last = (int64_t)tflite_ndim(x, 0) - 1;
	modser_sg_tensor *value = tflite_value(x, 0);
	modser_sg_tensor *t = msd_build_reduce(&x->b, value, MSD_REDUCE_L2, &last, 1);

	t = msd_build_two(&x->b, "Maximum", t, msd_build_number(&x->b, 1e-6f));
	t = msd_build_two(&x->b, "Div", value, t);
	return tflite_activate(x, t, 0);
}

const struct tflite_row tflite_rows_reduce[] = {
	{11, "L2_NORMALIZATION", 1, 1, .one = load_l2_norm},
	{40, "MEAN", 2, 2, .one = load_mean, .type = MSD_REDUCE_MEAN},
	{48, "TOPK_V2", 2, 2, .many = load_topk},
	{56, "ARG_MAX", 2, 2, .one = load_arg, .op = "ArgMax"},
	{74, "SUM", 2, 2, .one = load_reduce, .type = MSD_REDUCE_SUM},
	{79, "ARG_MIN", 2, 2, .one = load_arg, .op = "ArgMin"},
	{81, "REDUCE_PROD", 2, 2, .one = load_reduce, .type = MSD_REDUCE_PROD},
	{82, "REDUCE_MAX", 2, 2, .one = load_reduce, .type = MSD_REDUCE_MAX},
	{89, "REDUCE_MIN", 2, 2, .one = load_reduce, .type = MSD_REDUCE_MIN},
	{91, "REDUCE_ANY", 2, 2, .one = load_logical_reduce, .type = MSD_REDUCE_MAX},
	{128, "CUMSUM", 2, 2, .one = load_cumsum},
	{140, "REDUCE_ALL", 2, 2, .one = load_logical_reduce, .type = MSD_REDUCE_MIN},
	{0},
};
