#include "graph/op/attention/fused.h"

#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/attention/params.h"
#include "graph/op/op.h"

/* An order of axes, with the name of its parameter. */
struct perm {
	const char *name;
	struct msd_ints axes;
};

/* The order of @ndim axes; without an entry they stay as they are. */
static int read_order(const modser_sg_node *node, const struct perm *perm, size_t ndim,
		      size_t ret[static MODSER_GRAPH_MAX_NDIM])
{
	uint32_t seen = 0;

	if (perm->axes.n != 0 && perm->axes.n != ndim) {
		return msd_infer_fail(node, "%s has %zu axes of %zu", perm->name,
				      perm->axes.n, ndim);
	}
	for (size_t i = 0; i < ndim; i++) {
		ret[i] = i;
		if (perm->axes.n != 0 &&
		    msd_infer_axis_of(node, perm->axes.at[i], ndim, &ret[i]) != 0)
			return -1;
		if ((seen >> ret[i] & 1) != 0) {
			return msd_infer_fail(node, "an axis comes twice in %s",
					      perm->name);
		}
		seen |= UINT32_C(1) << ret[i];
	}
	return 0;
}

/* The extents and steps of an input, stretched to the axes of the result. */
struct operand {
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	int64_t *steps;
};

static int read_operand(const modser_sg_node *node, size_t i, const struct perm *perm,
			size_t ndim, struct operand *ret)
{
	const size_t own = msd_infer_has(node, i) ? msd_infer_ndim(node, i) : 0;
	const int64_t *dims = own > 0 ? msd_infer_dims(node, i) : NULL;
	size_t order[MODSER_GRAPH_MAX_NDIM] = {0};
	int64_t steps[MODSER_GRAPH_MAX_NDIM];
	int64_t step = 1;

	for (size_t k = 0; k < ndim; k++) {
		ret->dims[k] = 1;
		ret->steps[k] = 0;
	}
	if (perm != NULL && own < 2)
		return msd_infer_fail(node, "input %zu is no matrix", i);
	for (size_t k = own; k > 0; k--) {
		steps[k - 1] = step;
		step *= dims[k - 1];
		order[k - 1] = k - 1;
	}
	if (perm != NULL && read_order(node, perm, own, order) != 0)
		return -1;
	for (size_t k = 0; k < own; k++) {
		const size_t at = ndim - own + k;

		ret->dims[at] = dims[order[k]];
		ret->steps[at] = ret->dims[at] == 1 ? 0 : steps[order[k]];
	}
	return 0;
}

/* *@extent becomes the broadcast extent of both. */
static int stretch(const modser_sg_node *node, int64_t *extent, int64_t by)
{
	if (*extent != by && *extent != 1 && by != 1) {
		return msd_infer_fail(node, "extents %lld and %lld do not fit",
				      (long long)*extent, (long long)by);
	}
	*extent = *extent == 1 ? by : *extent;
	return 0;
}

static int set_extents(const modser_sg_node *node, const struct operand *in,
		       struct msd_fused_attention *ret)
{
	const struct operand *q = &in[MSD_FUSED_ATTENTION_Q];
	const struct operand *k = &in[MSD_FUSED_ATTENTION_K];
	const struct operand *v = &in[MSD_FUSED_ATTENTION_V];
	const size_t row = ret->ndim - 2;
	const size_t column = ret->ndim - 1;

	for (size_t axis = 0; axis < row; axis++) {
		ret->heads[axis] = 1;
		for (size_t i = 0; i < MSD_FUSED_ATTENTION_STEPPED; i++) {
			if (stretch(node, &ret->heads[axis], in[i].dims[axis]) != 0)
				return -1;
		}
	}
	ret->queries = q->dims[row];
	ret->keys = k->dims[column];
	ret->size = q->dims[column];
	ret->v_size = v->dims[column];
	for (size_t i = MSD_FUSED_ATTENTION_MASK; i <= MSD_FUSED_ATTENTION_FLAGS; i++) {
		if (stretch(node, &ret->queries, in[i].dims[row]) != 0 ||
		    stretch(node, &ret->keys, in[i].dims[column]) != 0)
			return -1;
	}
	if (k->dims[row] != ret->size || v->dims[row] != ret->keys)
		return msd_infer_fail(node, "its queries, keys and values do not fit");
	return 0;
}

static int set_result(const modser_sg_node *node, struct msd_fused_attention *ret)
{
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t order[MODSER_GRAPH_MAX_NDIM] = {0};
	const struct perm perm = {"y_perm", msd_params_fused_attention(node).y_perm};
	int64_t step = 1;

	memcpy(dims, ret->heads, (ret->ndim - 2) * sizeof(*dims));
	dims[ret->ndim - 2] = ret->queries;
	dims[ret->ndim - 1] = ret->v_size;
	if (read_order(node, &perm, ret->ndim, order) != 0)
		return -1;
	if (order[ret->ndim - 1] != ret->ndim - 1)
		return msd_infer_fail(node, "y_perm moves the last axis");
	for (size_t i = ret->ndim; i > 0; i--) {
		ret->y_dims[i - 1] = dims[order[i - 1]];
		ret->y_steps[order[i - 1]] = step;
		step *= ret->y_dims[i - 1];
	}
	return 0;
}

static size_t most_axes(const modser_sg_node *node)
{
	size_t most = 2;

	for (size_t i = 0; i < MSD_FUSED_ATTENTION_STEPPED; i++) {
		if (msd_infer_has(node, i) && msd_infer_ndim(node, i) > most)
			most = msd_infer_ndim(node, i);
	}
	return most;
}

int msd_op_fused_attention_of(const modser_sg_node *node,
			      struct msd_fused_attention *ret)
{
	const struct msd_params_fused_attention p = msd_params_fused_attention(node);
	const struct perm perms[MSD_FUSED_ATTENTION_STEPPED] = {
		{"q_perm", p.q_perm}, {"k_perm", p.k_perm}, {"v_perm", p.v_perm}};
	struct operand in[MSD_FUSED_ATTENTION_STEPPED];

	*ret = (struct msd_fused_attention){.ndim = most_axes(node)};
	for (size_t i = 0; i < MSD_FUSED_ATTENTION_STEPPED; i++) {
		in[i].steps = ret->steps[i];
		if (read_operand(node, i, perms[i].name != NULL ? &perms[i] : NULL,
				 ret->ndim, &in[i]) != 0)
			return -1;
	}
	return set_extents(node, in, ret) != 0 ? -1 : set_result(node, ret);
}

static int check_types(const modser_sg_node *node)
{
	for (size_t i = 0; i < MSD_FUSED_ATTENTION_INPUTS; i++) {
		if (!msd_infer_has(node, i))
			continue;
		const struct msd_dtype t = msd_infer_dtype_of(node, i);
		const bool fits = i == MSD_FUSED_ATTENTION_FLAGS
					  ? msd_dtype_is_bool(t)
					  : t.code == MSD_DT_FLOAT && t.bits == 32;

		if (!fits)
			return msd_infer_fail(node, "input %zu has another dtype", i);
		if (i >= MSD_FUSED_ATTENTION_FACTORS &&
		    msd_infer_product(node, i, 0, msd_infer_ndim(node, i)) != 1)
			return msd_infer_fail(node, "input %zu is not one number", i);
	}
	return 0;
}

static int infer(modser_sg_node *node)
{
	struct msd_fused_attention a;

	if (check_types(node) != 0 || msd_op_fused_attention_of(node, &a) != 0)
		return -1;
	return msd_infer_set(node, a.y_dims, a.ndim);
}

const modser_sg_op_schema msd_op_fused_attention = {
	.name = MSD_FUSED_ATTENTION,
	OP_PARAMS(MSD_PARAMS_FUSED_ATTENTION),
	OP_IN(3, 7),
	.optional_in = 0x78,
	OP_OUT(1, 1),
	.infer = infer,
};
