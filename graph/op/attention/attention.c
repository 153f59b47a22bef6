/* Attention: softmax(query x keys) x values, with a mask and a cache of the past. */
#include "graph/op/attention/attention.h"

#include "graph/ir/infer.h"
#include "graph/op/attention/params.h"
#include "graph/op/op.h"

/* The extents of one of query, keys and values. */
struct part {
	int64_t batch, heads, length, size;
};

static int part_of(const modser_sg_node *node, size_t i, int64_t heads,
		   struct part *ret)
{
	const int64_t *dims = msd_infer_dims(node, i);

	if (msd_infer_ndim(node, i) == 4) {
		*ret = (struct part){dims[0], dims[1], dims[2], dims[3]};
		return 0;
	}
	if (msd_infer_rank(node, i, 3) != 0)
		return -1;
	if (heads < 1 || dims[2] % heads != 0) {
		return msd_infer_fail(node,
				      "input %zu has %lld elements, which %lld heads "
				      "do not divide",
				      i, (long long)dims[2], (long long)heads);
	}
	*ret = (struct part){dims[0], heads, dims[1], dims[2] / heads};
	return 0;
}

/* Check the past of keys or values, input @i, against @now. */
static int check_past(const modser_sg_node *node, size_t i, const struct part *now,
		      int64_t length)
{
	if (msd_infer_rank(node, i, 4) != 0)
		return -1;
	const int64_t *dims = msd_infer_dims(node, i);
	if (dims[0] != now->batch || dims[1] != now->heads || dims[2] != length ||
	    dims[3] != now->size) {
		return msd_infer_fail(node, "the past in input %zu does not fit", i);
	}
	return 0;
}

/* A mask broadcasts to [batch, heads, queries, keys]; it may have fewer keys. */
static int check_mask(const modser_sg_node *node, const struct msd_op_attention *a)
{
	const int64_t want[] = {a->batch, a->q_heads, a->q_length,
				a->past + a->kv_length};
	const int64_t *dims = msd_infer_dims(node, MSD_ATTENTION_MASK);
	const size_t ndim = msd_infer_ndim(node, MSD_ATTENTION_MASK);

	if (ndim < 1 || ndim > 4)
		return msd_infer_fail(node, "its mask has %zu dimensions", ndim);
	for (size_t i = 0; i + 1 < ndim; i++) {
		if (dims[i] != 1 && dims[i] != want[4 - ndim + i])
			return msd_infer_fail(node, "its mask does not fit");
	}
	return dims[ndim - 1] <= want[3]
		       ? 0
		       : msd_infer_fail(node, "its mask has more keys than there are");
}

static int check_optional(const modser_sg_node *node, const struct msd_op_attention *a)
{
	const struct part k = {a->batch, a->kv_heads, 0, a->head};
	const struct part v = {a->batch, a->kv_heads, 0, a->v_head};

	if (msd_infer_has(node, MSD_ATTENTION_PAST_K) &&
	    (check_past(node, MSD_ATTENTION_PAST_K, &k, a->past) != 0 ||
	     check_past(node, MSD_ATTENTION_PAST_V, &v, a->past) != 0))
		return -1;
	if (msd_infer_has(node, MSD_ATTENTION_LENGTHS)) {
		if (msd_infer_has(node, MSD_ATTENTION_PAST_K)) {
			return msd_infer_fail(node, "it has a past and lengths; only "
						    "one of the two is possible");
		}
		if (msd_infer_indices(node, MSD_ATTENTION_LENGTHS) != 0 ||
		    msd_infer_rank(node, MSD_ATTENTION_LENGTHS, 1) != 0)
			return -1;
		if (msd_infer_dims(node, MSD_ATTENTION_LENGTHS)[0] != a->batch)
			return msd_infer_fail(node, "its lengths do not fit its batch");
	}
	return msd_infer_has(node, MSD_ATTENTION_MASK) ? check_mask(node, a) : 0;
}

int msd_op_attention_of(const modser_sg_node *node, struct msd_op_attention *ret)
{
	const struct msd_params_attention p = msd_params_attention(node);
	const int64_t kv_heads = p.kv_num_heads;
	const bool has_past = msd_infer_has(node, MSD_ATTENTION_PAST_K);
	struct part q = {0};
	struct part k = {0};
	struct part v = {0};

	if (has_past != msd_infer_has(node, MSD_ATTENTION_PAST_V))
		return msd_infer_fail(node, "it has a past of keys or values alone");
	if (part_of(node, 0, p.q_num_heads, &q) != 0 ||
	    part_of(node, 1, kv_heads, &k) != 0 || part_of(node, 2, kv_heads, &v) != 0)
		return -1;
	if (msd_infer_ndim(node, 0) != msd_infer_ndim(node, 1) ||
	    msd_infer_ndim(node, 0) != msd_infer_ndim(node, 2) || q.batch != k.batch ||
	    k.batch != v.batch || k.heads != v.heads || k.length != v.length ||
	    q.size != k.size)
		return msd_infer_fail(node, "its queries, keys and values do not fit");
	if (k.heads < 1 || q.heads % k.heads != 0) {
		return msd_infer_fail(node,
				      "%lld heads of queries do not share %lld "
				      "of keys",
				      (long long)q.heads, (long long)k.heads);
	}
	*ret = (struct msd_op_attention){
		.batch = q.batch,
		.q_heads = q.heads,
		.kv_heads = k.heads,
		.q_length = q.length,
		.kv_length = k.length,
		.head = q.size,
		.v_head = v.size,
		.is_packed = msd_infer_ndim(node, 0) == 3,
	};
	if (has_past && msd_infer_rank(node, MSD_ATTENTION_PAST_K, 4) != 0)
		return -1;
	if (has_past)
		ret->past = msd_infer_dims(node, MSD_ATTENTION_PAST_K)[2];
	return check_optional(node, ret);
}

static int infer_attention(modser_sg_node *node)
{
	struct msd_op_attention a = {0};

	if (MSD_PARAM_RANGE(node, attention, qk_matmul_output_mode, 0, 3) != 0 ||
	    MSD_PARAM_RANGE(node, attention, left_window_size, -1, INT32_MAX) != 0 ||
	    MSD_PARAM_RANGE(node, attention, right_window_size, -1, INT32_MAX) != 0 ||
	    msd_op_attention_of(node, &a) != 0)
		return -1;
	const int64_t total = a.past + a.kv_length;
	const int64_t packed[] = {a.batch, a.q_length, a.q_heads * a.v_head};
	const int64_t plain[] = {a.batch, a.q_heads, a.q_length, a.v_head};
	const int64_t keys[] = {a.batch, a.kv_heads, total, a.head};
	const int64_t values[] = {a.batch, a.kv_heads, total, a.v_head};
	const int64_t scores[] = {a.batch, a.q_heads, a.q_length, total};
	msd_infer_dtype(node, 2, msd_infer_dtype_of(node, MSD_ATTENTION_V));
	if (msd_infer_set_output(node, 1, keys, 4) != 0 ||
	    msd_infer_set_output(node, 2, values, 4) != 0 ||
	    msd_infer_set_output(node, 3, scores, 4) != 0)
		return -1;
	return msd_infer_set(node, a.is_packed ? packed : plain, a.is_packed ? 3 : 4);
}

const modser_sg_op_schema msd_op_attention = {
	.name = "Attention",
	OP_PARAMS(MSD_PARAMS_ATTENTION),
	OP_IN(3, 7),
	.optional_in = 0x78,
	OP_OUT(1, 4),
	.infer = infer_attention,
};
