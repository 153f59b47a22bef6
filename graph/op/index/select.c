/* Operators whose values decide the output's size: NonZero, Compress. The size is
 * known with the values. */
#include "graph/op/index/select.h"

#include "graph/ir/infer.h"
#include "graph/op/index/params.h"
#include "graph/op/op.h"

bool msd_op_is_zero(struct msd_dtype dtype, const void *p, size_t i)
{
	const size_t size = dtype.bits / 8u;
	const uint8_t *x = (const uint8_t *)p + i * size;
	const bool has_sign = dtype.code == MSD_DT_FLOAT || dtype.code == MSD_DT_BFLOAT;

	for (size_t k = 0; k + 1 < size; k++) {
		if (x[k] != 0)
			return false;
	}
	return (x[size - 1] & (has_sign ? 0x7f : 0xff)) == 0; /* -0.0 is 0, too */
}

/* Count the elements of input @i, at most @most of them, that are not 0. */
static int64_t count(const modser_sg_node *node, size_t i, int64_t most)
{
	const int64_t all = msd_infer_product(node, i, 0, msd_infer_ndim(node, i));
	int64_t n = 0;

	for (int64_t k = 0; k < all && k < most; k++) {
		n += !msd_op_is_zero(msd_infer_dtype_of(node, i),
				     msd_infer_value(node, i), (size_t)k);
	}
	return n;
}

static bool is_known(const modser_sg_node *node, size_t i)
{
	return msd_infer_value(node, i) != NULL ||
	       msd_infer_product(node, i, 0, msd_infer_ndim(node, i)) == 0;
}

static int infer_non_zero(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);

	msd_infer_dtype(node, 0, OP_INT64); /* independent of its values */
	if (!is_known(node, 0))
		return MSD_INFER_LATER;
	const int64_t dims[] = {ndim > 0 ? (int64_t)ndim : 1,
				count(node, 0, INT64_MAX)};
	return msd_infer_set(node, dims, 2);
}

const modser_sg_op_schema msd_op_non_zero = {
	.name = "NonZero",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_non_zero,
};

static int infer_compress(modser_sg_node *node)
{
	const struct msd_params_compress p = msd_params_compress(node);
	const bool is_flat = p.axis == MSD_OP_FLAT;
	const size_t ndim = is_flat ? 1 : msd_infer_ndim(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t axis = 0;

	if (!msd_dtype_eq(msd_infer_dtype_of(node, 1), OP_BOOL))
		return msd_infer_fail(node, "its condition is not bool");
	if (msd_infer_rank(node, 1, 1) != 0 ||
	    (!is_flat && msd_infer_axis(node, p.axis, &axis) != 0))
		return -1;
	if (!is_known(node, 1))
		return MSD_INFER_LATER;
	for (size_t i = 0; i < ndim; i++)
		dims[i] = msd_infer_dims(node, 0)[i];
	if (is_flat)
		dims[0] = msd_infer_product(node, 0, 0, msd_infer_ndim(node, 0));
	dims[axis] = count(node, 1, dims[axis]);
	return msd_infer_set(node, dims, ndim);
}

const modser_sg_op_schema msd_op_compress = {
	.name = "Compress",
	OP_PARAMS(MSD_PARAMS_COMPRESS),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer_compress,
};
