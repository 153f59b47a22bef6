/* Reductions, searches along an axis, and sums along one. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/op/reduce/reduce.h"
#include "graph/serializer/tensorflow/layer.h"

static modser_sg_tensor *reduce(const struct tf_layer *x, modser_sg_tensor *t,
				const int64_t *axes, size_t n, bool keeps)
{
	modser_sg_tensor *made = msd_build_node(&x->b, "Reduction", &t, 1);

	made = msd_build_int(msd_build_list(made, "axes", axes, n), "type",
			     x->row->type);
	return tf_done(msd_build_int(made, "keepdim", keeps));
}

static modser_sg_tensor *reduce_input(struct tf_layer *x, modser_sg_tensor *t)
{
	static const int64_t of_planes[] = {2, 3};
	const bool keeps = tf_bool(x, "keep_dims", false);
	int64_t axes[MODSER_GRAPH_MAX_NDIM];
	size_t n;

	if (t == NULL || !tf_known(x, 1, axes, MODSER_GRAPH_MAX_NDIM, &n))
		return NULL;
	if (n == 0)
		return t;
	modser_sg_tensor *planes = tf_planes_of(t);
	if (planes != NULL && n == 2 && axes[0] == 1 && axes[1] == 2) {
		t = reduce(x, planes, of_planes, 2, keeps);
		return keeps ? tf_to_nhwc(x, t) : t;
	}
	return reduce(x, t, axes, n, keeps);
}

static modser_sg_tensor *load_reduce(struct tf_layer *x)
{
	return reduce_input(x, tf_in(x, 0));
}

/* Any and all: the largest and the smallest of 0 and 1. */
static modser_sg_tensor *load_logical_reduce(struct tf_layer *x)
{
	return tf_cast(x, reduce_input(x, tf_cast(x, tf_in(x, 0), "int32")), "bool");
}

static modser_sg_tensor *load_arg(struct tf_layer *x)
{
	const Tensorflow__AttrValue *type = tf_attr(x, "output_type");
	modser_sg_tensor *t = tf_in(x, 0);
	int64_t axis = 0;
	size_t at;

	if (t == NULL || (x->n_in > 1 && !tf_known_one(x, 1, &axis)) ||
	    !tf_axis(x, t, axis, &at))
		return NULL;
	t = msd_build_node(&x->b, x->row->op, &t, 1);
	t = tf_done(
		msd_build_int(msd_build_int(t, "axis", (int64_t)at), "keepdims", 0));
	if (t != NULL && modser_sg_tensor_set_dtype(t, "int64") != 0)
		return NULL;
	return tf_cast(x, t,
		       type != NULL && type->has_type ? tf_dtype(type->type) : "int64");
}

static int load_topk(struct tf_layer *x)
{
	const int64_t one[] = {1};
	modser_sg_tensor *t = tf_in(x, 0);
	modser_sg_tensor *k = NULL;

	if (t == NULL)
		return -1;
	if (x->n_in > 1) {
		k = tf_reshape(x, tf_cast(x, tf_in(x, 1), "int64"), one, 1);
	} else {
		const int64_t v = tf_int(x, "k", 1);

		k = msd_build_ints(&x->b, &v, 1);
	}
	modser_sg_tensor *const in[] = {t, k};
	modser_sg_tensor *made = msd_build_node(&x->b, "TopKV2", in, 2);
	modser_sg_tensor *at = msd_build_output(&x->b, made);
	made = msd_build_int(msd_build_int(made, "axis", -1), "sorted", 1);
	made = at != NULL ? tf_done(made) : NULL;
	if (made == NULL || modser_sg_tensor_set_dtype(at, "int64") != 0 ||
	    !tf_outs(x, 2) || tf_out(x, 0, made) != 0)
		return -1;
	return tf_out(x, 1, tf_cast(x, at, "int32"));
}

static modser_sg_tensor *load_cumsum(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	modser_sg_tensor *const in[] = {t, t != NULL ? tf_in(x, 1) : NULL};
	modser_sg_tensor *made = msd_build_node(&x->b, "CumSum", in, 2);

	made = msd_build_int(made, "exclusive", tf_bool(x, "exclusive", false));
	made = msd_build_int(made, "product", x->row->type);
	return tf_done(msd_build_int(made, "reverse", tf_bool(x, "reverse", false)));
}

/* Half of the sum of squares. */
static modser_sg_tensor *load_l2_loss(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	const int64_t flat[] = {-1};
	const int64_t axis[] = {0};

	t = reduce(x, tf_reshape(x, t, flat, 1), axis, 1, false);
	return t != NULL ? tf_two(x, "Mul", t, tf_number(x, 0.5f, t->dtype_name))
			 : NULL;
}

const struct tf_row tf_rows_reduce[] = {
	{"All", 2, 2, .one = load_logical_reduce, .type = MSD_REDUCE_MIN},
	{"Any", 2, 2, .one = load_logical_reduce, .type = MSD_REDUCE_MAX},
	{"ArgMax", 1, 2, .one = load_arg, .op = "ArgMax"},
	{"ArgMin", 1, 2, .one = load_arg, .op = "ArgMin"},
	{"Cumprod", 2, 2, .one = load_cumsum, .type = 1},
	{"Cumsum", 2, 2, .one = load_cumsum, .type = 0},
	{"EuclideanNorm", 2, 2, .one = load_reduce, .type = MSD_REDUCE_L2},
	{"L2Loss", 1, 1, .one = load_l2_loss, .type = MSD_REDUCE_SQUARES},
	{"Max", 2, 2, .one = load_reduce, .type = MSD_REDUCE_MAX},
	{"Mean", 2, 2, .one = load_reduce, .type = MSD_REDUCE_MEAN},
	{"Min", 2, 2, .one = load_reduce, .type = MSD_REDUCE_MIN},
	{"Prod", 2, 2, .one = load_reduce, .type = MSD_REDUCE_PROD},
	{"Sum", 2, 2, .one = load_reduce, .type = MSD_REDUCE_SUM},
	{"TopK", 1, 1, .run = load_topk},
	{"TopKV2", 2, 2, .run = load_topk},
	{0},
};
