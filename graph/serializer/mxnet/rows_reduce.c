/* Reductions, searches along an axis, and matrix products. */
#include <string.h>

#include "graph/op/reduce/reduce.h"
#include "graph/serializer/mxnet/layer.h"

/* The axes that a reduction removes; none means all. */
static bool read_axes(const struct mxnet_layer *x, int64_t axes[static MXNET_MAX_LIST],
		      size_t *ret_n)
{
	bool goes[MXNET_MAX_LIST] = {false};
	const int ndim = x->in[0].ndim;
	size_t n;

	if (!mxnet_list(x, "axis", axes, ret_n))
		return false;
	if (!mxnet_bool(x, "exclude", false))
		return true;
	if (ndim < 0) {
		(void)mxnet_fail(x, "exclude needs a known number of dimensions");
		return false;
	}
	n = *ret_n;
	for (size_t i = 0; i < n; i++) {
		const int64_t axis = axes[i] < 0 ? axes[i] + ndim : axes[i];

		if (axis >= 0 && axis < ndim)
			goes[axis] = true;
	}
	*ret_n = 0;
	for (int i = 0; i < ndim; i++) {
		if (!goes[i])
			axes[(*ret_n)++] = i;
	}
	return true;
}

static modser_sg_tensor *reduce(struct mxnet_layer *x, int64_t type)
{
	int64_t axes[MXNET_MAX_LIST];
	const bool keeps = mxnet_bool(x, "keepdims", false);
	size_t n;

	if (!read_axes(x, axes, &n))
		return NULL;
	if (!keeps && x->ndim >= 0)
		x->ndim = n > 0 && (int)n < x->ndim ? x->ndim - (int)n : 1;
	modser_sg_tensor *t = msd_build_node(&x->b, "Reduction", &x->in[0].t, 1);
	if (n > 0)
		t = msd_build_list(t, "axes", axes, n);
	t = msd_build_done(
		msd_build_int(msd_build_int(t, "type", type), "keepdim", keeps));
	if (n == 0 && !keeps) { /* a scalar has one dimension in MXNet */
		static const int64_t one[] = {1};

		return msd_build_reshape(&x->b, t, one, 1);
	}
	return t;
}

static modser_sg_tensor *load_reduce(struct mxnet_layer *x)
{
	return reduce(x, x->row->type);
}

static modser_sg_tensor *load_norm(struct mxnet_layer *x)
{
	int64_t order;

	if (!mxnet_int(x, "ord", 2, &order))
		return NULL;
	if (order != 1 && order != 2)
		return mxnet_fail(x, "ord %d cannot be read", (int)order);
	return reduce(x, order == 1 ? MSD_REDUCE_L1 : MSD_REDUCE_L2);
}

static modser_sg_tensor *load_arg(struct mxnet_layer *x)
{
	const bool keeps = mxnet_bool(x, "keepdims", false);
	int64_t axis;

	if (mxnet_attr(x->node, "axis") == NULL)
		return mxnet_fail(x, "it has no axis");
	if (!mxnet_int(x, "axis", 0, &axis))
		return NULL;
	x->ndim -= !keeps && x->ndim > 1;
	modser_sg_tensor *t = msd_build_node(&x->b, x->row->op, &x->in[0].t, 1);
	t = msd_build_int(msd_build_int(t, "axis", axis), "keepdims", keeps);
	return mxnet_cast(x, msd_build_done(t), "float32");
}

/* Indices, values or both; indices have the element type of attribute dtype. */
static size_t load_topk(struct mxnet_layer *x, modser_sg_tensor **ret, size_t max)
{
	const char *dtype = mxnet_attr(x->node, "dtype");
	int64_t axis;
	int64_t k;

	if (!mxnet_int(x, "axis", -1, &axis) || !mxnet_int(x, "k", 1, &k) || max < 2)
		return 0;
	if (mxnet_is(x, "ret_typ", "mask", "indices") || k < 1) {
		(void)mxnet_fail(x, "ret_typ mask, or k below 1, cannot be read");
		return 0;
	}
	modser_sg_tensor *const in[] = {x->in[0].t, msd_build_ints(&x->b, &k, 1)};
	modser_sg_tensor *t = msd_build_node(&x->b, "TopKV2", in, 2);
	modser_sg_tensor *indices = msd_build_output(&x->b, t);
	t = msd_build_int(msd_build_int(t, "axis", axis), "sorted", 1);
	t = msd_build_done(
		msd_build_int(t, "largest", !mxnet_bool(x, "is_ascend", false)));
	if (t == NULL || indices == NULL)
		return 0;
	indices = mxnet_cast(x, indices, dtype != NULL ? dtype : "float32");
	if (mxnet_is(x, "ret_typ", "both", "indices")) {
		ret[0] = t;
		ret[1] = indices;
		return 2;
	}
	ret[0] = mxnet_is(x, "ret_typ", "value", "indices") ? t : indices;
	return 1;
}

/* A product of matrices, or of stacks of them, each of which may be transposed. */
static modser_sg_tensor *load_dot(struct mxnet_layer *x)
{
	static const char *const names[] = {"transpose_a", "transpose_b"};
	const int ndim = (int)x->row->type;
	modser_sg_tensor *in[2];

	for (size_t i = 0; i < 2; i++) {
		in[i] = x->in[i].t;
		if (x->in[i].ndim >= 0 && x->in[i].ndim != ndim) {
			return mxnet_fail(x, "input %zu has %d dimensions, expected %d",
					  i, x->in[i].ndim, ndim);
		}
		if (mxnet_bool(x, names[i], false)) {
			in[i] = mxnet_swap(x, in[i], (size_t)ndim, (size_t)ndim - 2,
					   (size_t)ndim - 1);
		}
	}
	return msd_build_two(&x->b, "MatMul", in[0], in[1]);
}

const struct mxnet_row mxnet_rows_reduce[] = {
	{"sum", 1, 1, .one = load_reduce, .type = MSD_REDUCE_SUM},
	{"sum_axis", 1, 1, .one = load_reduce, .type = MSD_REDUCE_SUM},
	{"mean", 1, 1, .one = load_reduce, .type = MSD_REDUCE_MEAN},
	{"max", 1, 1, .one = load_reduce, .type = MSD_REDUCE_MAX},
	{"max_axis", 1, 1, .one = load_reduce, .type = MSD_REDUCE_MAX},
	{"min", 1, 1, .one = load_reduce, .type = MSD_REDUCE_MIN},
	{"min_axis", 1, 1, .one = load_reduce, .type = MSD_REDUCE_MIN},
	{"prod", 1, 1, .one = load_reduce, .type = MSD_REDUCE_PROD},
	{"norm", 1, 1, .one = load_norm},
	{"argmax", 1, 1, .one = load_arg, .op = "ArgMax"},
	{"argmin", 1, 1, .one = load_arg, .op = "ArgMin"},
	{"topk", 1, 1, .many = load_topk},
	{"dot", 2, 2, .one = load_dot, .type = 2},
	{"batch_dot", 2, 2, .one = load_dot, .type = 3},
	{0},
};
