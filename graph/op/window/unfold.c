#include "graph/op/window/unfold.h"

#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/window/params.h"

/* Read element @i, within a range, of a list that may be empty. */
static int read_one(const modser_sg_node *node, const char *param, struct msd_ints list,
		    size_t i, size_t n, int64_t least, int64_t otherwise, int64_t *ret)
{
	if (list.n != 0 && list.n != n) {
		return msd_infer_fail(node, "%s has %zu numbers, expected %zu", param,
				      list.n, n);
	}
	*ret = list.n > 0 ? list.at[i] : otherwise;
	if (*ret < least || *ret > INT32_MAX)
		return msd_infer_fail(node, "%s has %lld", param, (long long)*ret);
	return 0;
}

#define READ_ONE(node, p, field, ...) read_one(node, #field, (p).field, __VA_ARGS__)

int msd_op_unpool_dims(const modser_sg_node *node,
		       int64_t ret[static MODSER_GRAPH_MAX_NDIM])
{
	const struct msd_params_max_unpool p = msd_params_max_unpool(node);
	const int64_t *in = msd_infer_dims(node, 0);
	const size_t n = msd_infer_ndim(node, 0) - 2;

	memcpy(ret, in, 2 * sizeof(*ret));
	for (size_t i = 0; i < n; i++) {
		int64_t kernel = 1;
		int64_t stride = 1;
		int64_t before = 0;
		int64_t after = 0;

		if (READ_ONE(node, p, kernel_shape, i, n, 1, 1, &kernel) != 0 ||
		    READ_ONE(node, p, strides, i, n, 1, 1, &stride) != 0 ||
		    READ_ONE(node, p, pads, i, 2 * n, 0, 0, &before) != 0 ||
		    READ_ONE(node, p, pads, n + i, 2 * n, 0, 0, &after) != 0)
			return -1;
		if (in[2 + i] < 1 || in[2 + i] > INT32_MAX)
			return msd_infer_fail(node, "there is nothing to put back");
		ret[2 + i] = (in[2 + i] - 1) * stride + kernel - before - after;
		if (ret[2 + i] < 1)
			return msd_infer_fail(node, "its padding is all there is");
	}
	return 0;
}

static int infer_unpool(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	int64_t own[MSD_INFER_MAX_INTS] = {0};
	size_t n = 0;

	if (ndim < 3)
		return msd_infer_fail(node, "its input has no planes");
	if (!msd_dtype_eq(msd_infer_dtype_of(node, 1), OP_INT64) ||
	    msd_infer_product(node, 1, 0, msd_infer_ndim(node, 1)) !=
		    msd_infer_product(node, 0, 0, ndim))
		return msd_infer_fail(node, "it has not an index for each element");
	if (msd_op_unpool_dims(node, dims) != 0)
		return -1;
	if (!msd_infer_has(node, 2))
		return msd_infer_set(node, dims, ndim);
	const int result = msd_infer_ints(node, 2, own, &n);
	if (result != 0)
		return result;
	for (size_t i = 0; i < ndim; i++) {
		if (n != ndim || own[i] < dims[i] || own[i] > INT32_MAX)
			return msd_infer_fail(node, "its shape has no room");
	}
	return msd_infer_set(node, own, ndim);
}

const modser_sg_op_schema msd_op_max_unpool = {
	.name = "MaxUnpool",
	OP_PARAMS(MSD_PARAMS_MAX_UNPOOL),
	OP_IN(2, 3),
	OP_OUT(1, 1),
	.infer = infer_unpool,
};

static int read_fold(const modser_sg_node *node, size_t i, size_t n,
		     struct msd_op_fold *f)
{
	const struct msd_params_col2im p = msd_params_col2im(node);
	int64_t after = 0;

	if (READ_ONE(node, p, dilations, i, n, 1, 1, &f->dilation) != 0 ||
	    READ_ONE(node, p, strides, i, n, 1, 1, &f->stride) != 0 ||
	    READ_ONE(node, p, pads, i, 2 * n, 0, 0, &f->before) != 0 ||
	    READ_ONE(node, p, pads, n + i, 2 * n, 0, 0, &after) != 0)
		return -1;
	if (f->image < 1 || f->image > INT32_MAX || f->block < 1 ||
	    f->block > INT32_MAX)
		return msd_infer_fail(node, "an image or a block of it cannot be");
	const int64_t room =
		f->image + f->before + after - f->dilation * (f->block - 1) - 1;
	if (room < 0)
		return msd_infer_fail(node, "a block is larger than the image");
	f->places = room / f->stride + 1;
	return 0;
}

int msd_op_folds(const modser_sg_node *node,
		 struct msd_op_fold ret[static MODSER_GRAPH_MAX_NDIM], size_t *ret_n)
{
	int64_t image[MSD_INFER_MAX_INTS] = {0};
	int64_t block[MSD_INFER_MAX_INTS] = {0};
	size_t n = 0;
	int result = msd_infer_ints(node, 1, image, &n);

	if (result == 0)
		result = msd_infer_ints(node, 2, block, ret_n);
	if (result != 0)
		return result;
	if (n != *ret_n || n < 1 || n > MODSER_GRAPH_MAX_NDIM - 2) {
		return msd_infer_fail(node,
				      "its blocks have other axes than its image");
	}
	for (size_t i = 0; i < n; i++) {
		ret[i] = (struct msd_op_fold){.image = image[i],
					      .block = block[i],
					      .stride = 1,
					      .dilation = 1,
					      .places = 1};
		if (read_fold(node, i, n, &ret[i]) != 0)
			return -1;
	}
	return 0;
}

/* Both products fit: neither exceeds the input's number of elements. */
static int infer_fold(modser_sg_node *node)
{
	struct msd_op_fold folds[MODSER_GRAPH_MAX_NDIM] = {{0}};
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	int64_t block = 1;
	int64_t places = 1;
	size_t n = 0;

	if (msd_infer_rank(node, 0, 3) != 0)
		return -1;
	const int result = msd_op_folds(node, folds, &n);
	if (result != 0)
		return result;
	const int64_t *in = msd_infer_dims(node, 0);
	for (size_t i = 0; i < n; i++) {
		if (folds[i].block < 1 || folds[i].places < 1)
			return -1; /* rejected by msd_op_folds() */
		block = block > in[1] / folds[i].block ? in[1] + 1
						       : block * folds[i].block;
		places = places > in[2] / folds[i].places ? in[2] + 1
							  : places * folds[i].places;
		dims[2 + i] = folds[i].image;
	}
	if (in[1] < 1 || in[1] % block != 0 || places != in[2])
		return msd_infer_fail(node, "its columns do not fit its image");
	dims[0] = in[0];
	dims[1] = in[1] / block;
	return msd_infer_set(node, dims, n + 2);
}

const modser_sg_op_schema msd_op_col2im = {
	.name = "Col2Im",
	OP_PARAMS(MSD_PARAMS_COL2IM),
	OP_IN(3, 3),
	OP_OUT(1, 1),
	.infer = infer_fold,
};
