/* The operator Attention: extents, heads that share keys, the past, and masks. */
#include "graph/op/attention/attention.h"

#include <math.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/op/attention/params.h"
#include "runtime/engine/native/attend.h"
#include "runtime/engine/native/claim.h"
#include "runtime/engine/native/work.h"

enum { PRESENT_K = 1, PRESENT_V, SCORES };

static bool is_bool(const modser_sg_tensor *t)
{
	return t != NULL && msd_dtype_is_bool(t->dtype);
}

static bool may(const modser_sg_node *node)
{
	struct msd_op_attention a;

	for (size_t i = 0; i < modser_sg_node_input_count(node); i++) {
		const modser_sg_tensor *t = modser_sg_node_input(node, i);

		if (t != NULL && !msd_native_is_single(node, i) &&
		    i != MSD_ATTENTION_LENGTHS &&
		    !(i == MSD_ATTENTION_MASK && is_bool(t)))
			return false;
	}
	return modser_sg_node_output(node, SCORES) == NULL &&
	       msd_op_attention_of(node, &a) == 0 && a.batch > 0 && a.q_heads > 0 &&
	       a.q_length > 0 && a.past + a.kv_length > 0 && a.head > 0 && a.v_head > 0;
}

/* Where rows of queries, keys or values lie: [batch, heads, length, size], or packed
 * with the heads beside each other. */
struct rows {
	int64_t batch, head, row;
};

static struct rows rows_of(int64_t heads, int64_t length, int64_t size, bool is_packed)
{
	return (struct rows){
		.batch = heads * length * size,
		.head = is_packed ? size : length * size,
		.row = is_packed ? heads * size : size,
	};
}

/* A head of the queries is (batch entry, head of keys, head that shares it). */
static void add_heads(struct msd_walk *w, const struct rows *r, int64_t per_kv,
		      bool is_shared)
{
	const int64_t steps[] = {r->batch, is_shared ? r->head : r->head * per_kv,
				 is_shared ? 0 : r->head};

	msd_walk_operand(w, steps, 0);
}

/* Keys or values of the past, then the new ones, in [batch, heads, length, size]. */
static void join(const struct msd_kernel_call *c, const struct msd_op_attention *a,
		 size_t input, int64_t size, float *ret)
{
	const bool is_keys = input == MSD_ATTENTION_K;
	const float *past =
		c->in[is_keys ? MSD_ATTENTION_PAST_K : MSD_ATTENTION_PAST_V];
	const float *now = c->in[input];
	const struct rows r = rows_of(a->kv_heads, a->kv_length, size, a->is_packed);
	const size_t n_past = (size_t)(a->past * size);

	for (int64_t i = 0; i < a->batch * a->kv_heads; i++) {
		const float *from =
			now + i / a->kv_heads * r.batch + i % a->kv_heads * r.head;

		if (n_past > 0)
			memcpy(ret, past + (size_t)i * n_past, n_past * sizeof(*ret));
		ret += n_past;
		for (int64_t k = 0; k < a->kv_length; k++, ret += size)
			memcpy(ret, from + k * r.row, (size_t)size * sizeof(*ret));
	}
}

/* The keys or values of all positions. They are joined in output @output, or in
 * *@room, which moves on. */
static struct msd_native_matrix all_of(const struct msd_kernel_call *c,
				       const struct msd_op_attention *a, size_t input,
				       size_t output, int64_t size, struct rows *ret,
				       float **room)
{
	const bool is_requested = modser_sg_node_output(c->node, output) != NULL &&
				  c->out[output] != NULL;
	float *joined = is_requested ? c->out[output] : NULL;

	*ret = rows_of(a->kv_heads, a->kv_length, size, a->is_packed);
	if (joined == NULL && a->past > 0) {
		joined = *room;
		*room += a->batch * a->kv_heads * (a->past + a->kv_length) * size;
	}
	if (joined != NULL) {
		join(c, a, input, size, joined);
		*ret = rows_of(a->kv_heads, a->past + a->kv_length, size, false);
	}
	return (struct msd_native_matrix){joined != NULL ? joined : c->in[input],
					  (size_t)ret->row, 1};
}

/* Masks are broadcast to [batch, heads, queries, keys]. */
static void read_mask(const struct msd_kernel_call *c, const struct msd_op_attention *a,
		      struct msd_native_attention *ret)
{
	const bool has_mask = msd_kernel_has(c, MSD_ATTENTION_MASK);
	const size_t ndim = has_mask ? msd_kernel_in_ndim(c, MSD_ATTENTION_MASK) : 0;
	const int64_t *dims =
		has_mask ? msd_kernel_in_dims(c, MSD_ATTENTION_MASK) : NULL;
	int64_t steps[4] = {0};
	int64_t step = has_mask ? dims[ndim - 1] : 0;

	ret->sight.mask_keys = has_mask ? step : (int64_t)ret->keys;
	for (size_t i = has_mask ? ndim - 1 : 0; i-- > 0; step *= dims[i])
		steps[4 - ndim + i] = dims[i] == 1 ? 0 : step;
	for (size_t i = 0; i < 2; i++) { /* a mask or flags */
		add_heads(&ret->masks, &(struct rows){steps[0], steps[1], 0},
			  a->q_heads / a->kv_heads, false);
	}
	ret->mask_row = ret->flags_row = (size_t)steps[2];
	if (!has_mask)
		return;
	if (is_bool(modser_sg_node_input(c->node, MSD_ATTENTION_MASK))) {
		ret->scores.flags = c->in[MSD_ATTENTION_MASK];
	} else {
		ret->scores.mask = c->in[MSD_ATTENTION_MASK];
	}
}

static void read_sight(const struct msd_kernel_call *c,
		       const struct msd_op_attention *a, struct msd_native_sight *ret)
{
	const struct msd_params_attention p = msd_params_attention(c->node);

	ret->is_causal = p.is_causal != 0;
	ret->left = p.left_window_size;
	ret->right = p.right_window_size;
	ret->past = a->past;
	if (msd_kernel_has(c, MSD_ATTENTION_LENGTHS)) {
		ret->lengths = c->in[MSD_ATTENTION_LENGTHS];
		ret->lengths_dtype = msd_kernel_in_dtype(c, MSD_ATTENTION_LENGTHS);
		ret->per_length = (size_t)a->q_heads;
	}
	ret->is_limited = ret->is_causal || ret->left >= 0 || ret->right >= 0 ||
			  ret->lengths != NULL ||
			  ret->mask_keys < a->past + a->kv_length;
}

static msd_err attend(const struct msd_kernel_call *c, const struct msd_op_attention *a,
		      float *room, struct msd_diag *d)
{
	const int64_t per_kv = a->q_heads / a->kv_heads;
	const int64_t heads[] = {a->batch, a->kv_heads, per_kv};
	const struct rows q = rows_of(a->q_heads, a->q_length, a->head, a->is_packed);
	const struct rows y = rows_of(a->q_heads, a->q_length, a->v_head, a->is_packed);
	const struct msd_params_attention p = msd_params_attention(c->node);
	struct rows k;
	struct rows v;
	struct msd_native_attention t = {
		.queries = (size_t)a->q_length,
		.keys = (size_t)(a->past + a->kv_length),
		.size = (size_t)a->head,
		.v_size = (size_t)a->v_head,
		.q = {c->in[MSD_ATTENTION_Q], (size_t)q.row, 1},
		.y = c->out[0],
		.y_row = (size_t)y.row,
		.scores = {.scale = p.scale != 0 ? p.scale
						 : (float)(1 / sqrt((double)a->head)),
			   .cap = p.softcap,
			   .fill = -INFINITY,
			   .mask_hides = true,
			   .flags_step = 1,
			   .mask_step = 1},
		.hides = true,
	};

	t.k = all_of(c, a, MSD_ATTENTION_K, PRESENT_K, a->head, &k, &room);
	t.v = all_of(c, a, MSD_ATTENTION_V, PRESENT_V, a->v_head, &v, &room);
	msd_walk_init(&t.heads, heads, 3);
	add_heads(&t.heads, &q, per_kv, false);
	add_heads(&t.heads, &k, per_kv, true);
	add_heads(&t.heads, &v, per_kv, true);
	add_heads(&t.heads, &y, per_kv, false);
	msd_walk_init(&t.masks, heads, 3);
	read_mask(c, a, &t);
	read_sight(c, a, &t.sight);
	return c->out[0] != NULL ? msd_native_attend(&t, d) : MSD_OK;
}

static msd_err run(const struct msd_kernel_call *c,
		   const struct msd_native_packed *packed, struct msd_diag *d)
{
	struct msd_op_attention a;

	(void)packed;
	if (msd_op_attention_of(c->node, &a) != 0)
		return msd_diag_set(d, MSD_BAD_ARGUMENT, "its inputs do not fit");
	const size_t rows = (size_t)(a.batch * a.kv_heads * (a.past + a.kv_length));
	const size_t joined = a.past > 0 ? rows * (size_t)(a.head + a.v_head) : 0;
	float *room = joined > 0 ? msd_native_scratch_take(joined) : NULL;
	if (joined > 0 && room == NULL)
		return msd_diag_no_memory(d);
	const msd_err err = attend(c, &a, room, d);
	msd_native_scratch_give(room);
	return err;
}

const struct msd_native_claim msd_native_attention = {"Attention", may, NULL, run, 0};
