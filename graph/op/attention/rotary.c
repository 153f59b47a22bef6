/* RotaryEmbedding: rotate pairs of elements by angles that depend on the position. */
#include "graph/op/attention/rotary.h"

#include "graph/ir/infer.h"
#include "graph/op/attention/params.h"
#include "graph/op/op.h"

static int check_table(const modser_sg_node *node, size_t i,
		       const struct msd_op_rotary *r)
{
	const bool has_places = msd_infer_has(node, MSD_ROTARY_PLACES);
	const size_t rank = has_places ? 2 : 3;

	if (msd_infer_rank(node, i, rank) != 0)
		return -1;
	const int64_t *dims = msd_infer_dims(node, i);
	if (dims[rank - 1] != r->rotated / 2 ||
	    (!has_places && (dims[0] != r->batch || dims[1] != r->length))) {
		return msd_infer_fail(node, "input %zu does not fit what it rotates",
				      i);
	}
	if (dims[0] != msd_infer_dims(node, MSD_ROTARY_COS)[0])
		return msd_infer_fail(node, "its tables differ in length");
	return 0;
}

static int check_places(const modser_sg_node *node, const struct msd_op_rotary *r)
{
	if (!msd_infer_has(node, MSD_ROTARY_PLACES))
		return 0;
	if (msd_infer_indices(node, MSD_ROTARY_PLACES) != 0 ||
	    msd_infer_rank(node, MSD_ROTARY_PLACES, 2) != 0)
		return -1;
	const int64_t *dims = msd_infer_dims(node, MSD_ROTARY_PLACES);
	return dims[0] == r->batch && dims[1] == r->length
		       ? 0
		       : msd_infer_fail(node, "its positions do not fit its input");
}

/* Set the heads of @ret. */
static int split_heads(const modser_sg_node *node, struct msd_op_rotary *ret)
{
	const int64_t heads = msd_params_rotary_embedding(node).num_heads;
	const int64_t *dims = msd_infer_dims(node, 0);

	ret->is_packed = msd_infer_ndim(node, 0) != 4;
	ret->batch = dims[0];
	if (!ret->is_packed) {
		ret->heads = dims[1];
		ret->length = dims[2];
		ret->size = dims[3];
		return 0;
	}
	if (heads < 1 || dims[2] % heads != 0) {
		return msd_infer_fail(node, "%lld heads do not divide %lld elements",
				      (long long)heads, (long long)dims[2]);
	}
	ret->length = dims[1];
	ret->heads = heads;
	ret->size = dims[2] / heads;
	return 0;
}

int msd_op_rotary_of(const modser_sg_node *node, struct msd_op_rotary *ret)
{

	*ret = (struct msd_op_rotary){0};
	if (msd_infer_ndim(node, 0) != 4 && msd_infer_rank(node, 0, 3) != 0)
		return -1;
	if (split_heads(node, ret) != 0)
		return -1;
	ret->rotated = msd_params_rotary_embedding(node).rotary_embedding_dim;
	if (ret->rotated == 0)
		ret->rotated = ret->size;
	if (ret->rotated < 0 || ret->rotated > ret->size || ret->rotated % 2 != 0) {
		return msd_infer_fail(node, "%lld of %lld elements cannot be rotated",
				      (long long)ret->rotated, (long long)ret->size);
	}
	if (check_table(node, MSD_ROTARY_COS, ret) != 0 ||
	    check_table(node, MSD_ROTARY_SIN, ret) != 0)
		return -1;
	return check_places(node, ret);
}

static int infer_rotary(modser_sg_node *node)
{
	struct msd_op_rotary r = {0};

	return msd_op_rotary_of(node, &r) == 0 ? msd_infer_same(node) : -1;
}

const modser_sg_op_schema msd_op_rotary_embedding = {
	.name = "RotaryEmbedding",
	OP_PARAMS(MSD_PARAMS_ROTARY_EMBEDDING),
	OP_IN(3, 4),
	.optional_in = 8,
	OP_OUT(1, 1),
	.infer = infer_rotary,
};
