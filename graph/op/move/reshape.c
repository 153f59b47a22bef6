#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

struct target {
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t n;
	size_t unknown; /* the inferred extent; SIZE_MAX: none */
};

static int push(const modser_sg_node *node, struct target *t, int64_t extent)
{
	if (t->n == MODSER_GRAPH_MAX_NDIM)
		return msd_infer_fail(node, "it has more than 32 dimensions");
	if (extent == -1) {
		if (t->unknown != SIZE_MAX)
			return msd_infer_fail(node, "it has two unknown extents");
		t->unknown = t->n;
		extent = 1;
	}
	t->dims[t->n++] = extent;
	return 0;
}

/* Code @k: an extent, or 0 to copy one, -1 for the rest, -2 to copy all that follow,
 * -3 to join two. @at is the position in the input. */
static int apply(const modser_sg_node *node, struct target *t, int64_t code, size_t *at)
{
	const int64_t *in = msd_infer_dims(node, 0);
	const size_t ndim = msd_infer_ndim(node, 0);
	const bool is_zero = code == 0 && msd_params_reshape(node).allowzero != 0;
	const size_t needs = code == -3 ? 2 : code == 0 && !is_zero ? 1 : 0;

	if (code < -3)
		return msd_infer_fail(node, "code %d is not known", (int)code);
	if (needs > 0 && *at + needs > ndim)
		return msd_infer_fail(node, "it copies an extent that is not there");
	if (code == -2) {
		for (; *at < ndim; ++*at) {
			if (push(node, t, in[*at]) != 0)
				return -1;
		}
		return 0;
	}
	const int64_t extent = code == -3   ? in[*at] * in[*at + 1]
			       : needs == 1 ? in[*at]
					    : code;
	*at += code == -3 ? 2 : 1;
	return push(node, t, extent);
}

/* MXNet's code -4: split the extent at *@at into @a and @b, one of which may be -1. */
static int split(const modser_sg_node *node, struct target *t, int64_t a, int64_t b,
		 size_t *at)
{
	if (*at >= msd_infer_ndim(node, 0))
		return msd_infer_fail(node, "it splits an extent that is not there");
	const int64_t all = msd_infer_dims(node, 0)[(*at)++];
	const int64_t known = a == -1 ? b : a;
	if (known < 1 || all % known != 0 ||
	    (a != -1 && b != -1 && (b < 1 || all / known != b))) {
		return msd_infer_fail(node, "extent %lld is not %lld times %lld",
				      (long long)all, (long long)a, (long long)b);
	}
	if (push(node, t, a == -1 ? all / b : a) != 0)
		return -1;
	return push(node, t, a == -1 ? b : all / a);
}

static int finish(const modser_sg_node *node, struct target *t)
{
	const int64_t all = msd_infer_product(node, 0, 0, msd_infer_ndim(node, 0));
	int64_t known = 1;

	for (size_t i = 0; i < t->n; i++) {
		if (__builtin_mul_overflow(known, t->dims[i], &known))
			return msd_infer_fail(node, "it is too large");
	}
	if (t->unknown != SIZE_MAX) {
		if (known == 0)
			return msd_infer_fail(node, "an extent follows from nothing");
		t->dims[t->unknown] = all / known;
		known *= all / known;
	}
	if (known != all)
		return msd_infer_fail(node, "its elements are not those of its input");
	return msd_infer_set(node, t->dims, t->n);
}

static int infer(modser_sg_node *node)
{
	const struct msd_params_reshape p = msd_params_reshape(node);
	const struct msd_ints codes = p.re_shape;
	struct target t = {.unknown = SIZE_MAX};
	int64_t given[MSD_INFER_MAX_INTS];
	const int64_t *list = codes.at;
	size_t n = codes.n;
	size_t at = 0;

	if (p.reverse != 0)
		return msd_infer_fail(node, "reverse is not known");
	if (n == 0 && msd_infer_has(node, 1)) {
		const int result = msd_infer_ints(node, 1, given, &n);

		if (result != 0)
			return result;
		list = given;
	} else if (n == 0) {
		return msd_infer_fail(node, "it does not say the shape");
	}
	const bool may_split = p.is_mxnet != 0;
	for (size_t i = 0; i < n; i++) {
		const bool splits = may_split && list[i] == -4 && i + 2 < n;

		if ((splits ? split(node, &t, list[i + 1], list[i + 2], &at)
			    : apply(node, &t, list[i], &at)) != 0)
			return -1;
		i += splits ? 2 : 0;
	}
	return finish(node, &t);
}

const modser_sg_op_schema msd_op_reshape = {
	.name = "Reshape",
	OP_PARAMS(MSD_PARAMS_RESHAPE),
	OP_IN(1, 2),
	OP_OUT(1, 1),
	.infer = infer,
};
