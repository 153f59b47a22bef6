/* LinearAttention: a state of keys and values that each position updates. */
#include "graph/op/attention/linear_attention.h"

#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/attention/params.h"
#include "graph/op/op.h"

static int read_rule(const modser_sg_node *node, struct msd_op_linear_attention *ret)
{
	static const char *const rules[] = {"linear", "gated", "delta", "gated_delta"};
	const char *rule = msd_params_linear_attention(node).update_rule;
	size_t i = 0;

	while (i < OP_COUNT(rules) && strcmp(rules[i], rule) != 0)
		i++;
	if (i == OP_COUNT(rules))
		return msd_infer_fail(node, "rule \"%s\" is not known", rule);
	ret->is_gated = i % 2 == 1;
	ret->is_delta = i >= 2;
	if (ret->is_gated != msd_infer_has(node, MSD_LINEAR_DECAY)) {
		return msd_infer_fail(node, "rule \"%s\" has %s decay", rule,
				      ret->is_gated ? "a" : "no");
	}
	if (ret->is_delta != msd_infer_has(node, MSD_LINEAR_BETA)) {
		return msd_infer_fail(node, "rule \"%s\" has %s beta", rule,
				      ret->is_delta ? "a" : "no");
	}
	return 0;
}

/* The last extent of input @i, which is [batch, length, ...]. */
static int last_of(const modser_sg_node *node, size_t i, int64_t *ret)
{
	if (msd_infer_rank(node, i, 3) != 0)
		return -1;
	const int64_t *dims = msd_infer_dims(node, i);
	if (dims[0] != msd_infer_dims(node, 0)[0] ||
	    dims[1] != msd_infer_dims(node, 0)[1]) {
		return msd_infer_fail(node, "input %zu is of another batch or length",
				      i);
	}
	*ret = dims[2];
	return 0;
}

static int read_gates(const modser_sg_node *node, struct msd_op_linear_attention *ret)
{
	int64_t decay = 0;
	int64_t beta = 0;

	if ((ret->is_gated && last_of(node, MSD_LINEAR_DECAY, &decay) != 0) ||
	    (ret->is_delta && last_of(node, MSD_LINEAR_BETA, &beta) != 0))
		return -1;
	ret->decays_by_key = decay != ret->kv_heads;
	ret->has_many_betas = beta != 1;
	if (ret->is_gated && ret->decays_by_key && decay != ret->kv_heads * ret->key)
		return msd_infer_fail(node, "its decay does not fit its keys");
	if (ret->is_delta && ret->has_many_betas && beta != ret->kv_heads)
		return msd_infer_fail(node, "its beta does not fit its heads");
	return 0;
}

static int check_state(const modser_sg_node *node,
		       const struct msd_op_linear_attention *a)
{
	const int64_t want[] = {a->batch, a->kv_heads, a->key, a->value};

	if (!msd_infer_has(node, MSD_LINEAR_STATE))
		return 0;
	if (msd_infer_rank(node, MSD_LINEAR_STATE, 4) != 0)
		return -1;
	return memcmp(msd_infer_dims(node, MSD_LINEAR_STATE), want, sizeof(want)) == 0
		       ? 0
		       : msd_infer_fail(node, "its past state does not fit");
}

int msd_op_linear_attention_of(const modser_sg_node *node,
			       struct msd_op_linear_attention *ret)
{
	const struct msd_params_linear_attention p = msd_params_linear_attention(node);
	const int64_t q_heads = p.q_num_heads;
	const int64_t kv_heads = p.kv_num_heads;
	int64_t q = 0;
	int64_t k = 0;
	int64_t v = 0;

	if (last_of(node, MSD_LINEAR_Q, &q) != 0 ||
	    last_of(node, MSD_LINEAR_K, &k) != 0 ||
	    last_of(node, MSD_LINEAR_V, &v) != 0 || read_rule(node, ret) != 0)
		return -1;
	if (kv_heads < 1 || q_heads < 1 || q_heads % kv_heads != 0 ||
	    q % q_heads != 0 || k % kv_heads != 0 || v % kv_heads != 0 ||
	    q / q_heads != k / kv_heads)
		return msd_infer_fail(node, "its heads do not fit its inputs");
	ret->batch = msd_infer_dims(node, 0)[0];
	ret->length = msd_infer_dims(node, 0)[1];
	ret->q_heads = q_heads;
	ret->kv_heads = kv_heads;
	ret->key = k / kv_heads;
	ret->value = v / kv_heads;
	return read_gates(node, ret) == 0 ? check_state(node, ret) : -1;
}

static int infer_linear_attention(modser_sg_node *node)
{
	const size_t typed =
		msd_infer_has(node, MSD_LINEAR_STATE) ? MSD_LINEAR_STATE : MSD_LINEAR_Q;
	struct msd_op_linear_attention a = {0};

	if (msd_op_linear_attention_of(node, &a) != 0)
		return -1;
	const int64_t out[] = {a.batch, a.length, a.q_heads * a.value};
	const int64_t state[] = {a.batch, a.kv_heads, a.key, a.value};
	msd_infer_dtype(node, 1, msd_infer_dtype_of(node, typed));
	return msd_infer_set_output(node, 1, state, 4) == 0
		       ? msd_infer_set(node, out, 3)
		       : -1;
}

const modser_sg_op_schema msd_op_linear_attention = {
	.name = "LinearAttention",
	OP_PARAMS(MSD_PARAMS_LINEAR_ATTENTION),
	OP_IN(3, 6),
	.optional_in = 0x38,
	OP_OUT(1, 2),
	.infer = infer_linear_attention,
};
