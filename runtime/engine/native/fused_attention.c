/* The formula of attention, which the pass `attention` has found. */
#include "graph/op/attention/fused.h"
#include "graph/op/attention/params.h"
#include "runtime/engine/native/attend.h"
#include "runtime/engine/native/claim.h"

/* Inference has checked dtypes and shapes; there is no other kernel. */
static bool may(const modser_sg_node *node)
{
	return modser_sg_node_input_count(node) > MSD_FUSED_ATTENTION_V;
}

static struct msd_native_matrix matrix(const struct msd_kernel_call *c,
				       const struct msd_fused_attention *a, size_t i,
				       size_t row, size_t column)
{
	return (struct msd_native_matrix){c->in[i], (size_t)a->steps[i][row],
					  (size_t)a->steps[i][column]};
}

static float scale_of(const struct msd_kernel_call *c)
{
	float scale = msd_params_fused_attention(c->node).scale;

	for (size_t i = MSD_FUSED_ATTENTION_FACTORS; i < MSD_FUSED_ATTENTION_INPUTS;
	     i++)
		scale *= msd_kernel_has(c, i) ? *msd_kernel_in(c, i) : 1;
	return scale;
}

static void set_masks(const struct msd_kernel_call *c,
		      const struct msd_fused_attention *a,
		      struct msd_native_attention *ret)
{
	const int64_t *mask = a->steps[MSD_FUSED_ATTENTION_MASK];
	const int64_t *flags = a->steps[MSD_FUSED_ATTENTION_FLAGS];
	const size_t row = a->ndim - 2;
	const size_t column = a->ndim - 1;
	const struct msd_params_fused_attention p = msd_params_fused_attention(c->node);

	msd_walk_init(&ret->masks, a->heads, row);
	msd_walk_operand(&ret->masks, mask, 0);
	msd_walk_operand(&ret->masks, flags, 0);
	ret->mask_row = (size_t)mask[row];
	ret->flags_row = (size_t)flags[row];
	ret->scores = (struct msd_native_scores){
		.scale = scale_of(c),
		.flags_hide = p.hides != 0,
		.fill = p.fill,
		.mask_step = (size_t)mask[column],
		.flags_step = (size_t)flags[column],
	};
	if (msd_kernel_has(c, MSD_FUSED_ATTENTION_MASK))
		ret->scores.mask = c->in[MSD_FUSED_ATTENTION_MASK];
	if (msd_kernel_has(c, MSD_FUSED_ATTENTION_FLAGS))
		ret->scores.flags = c->in[MSD_FUSED_ATTENTION_FLAGS];
	ret->is_safe = p.is_safe != 0;
}

static msd_err run(const struct msd_kernel_call *c,
		   const struct msd_native_packed *packed, struct msd_diag *d)
{
	struct msd_fused_attention a;

	(void)packed;
	if (msd_op_fused_attention_of(c->node, &a) != 0)
		return msd_diag_set(d, MSD_BAD_ARGUMENT, "its inputs do not fit");
	const size_t row = a.ndim - 2;
	const size_t column = a.ndim - 1;
	struct msd_native_attention t = {
		.queries = (size_t)a.queries,
		.keys = (size_t)a.keys,
		.size = (size_t)a.size,
		.v_size = (size_t)a.v_size,
		.q = matrix(c, &a, MSD_FUSED_ATTENTION_Q, row, column),
		.k = matrix(c, &a, MSD_FUSED_ATTENTION_K, column, row),
		.v = matrix(c, &a, MSD_FUSED_ATTENTION_V, row, column),
		.y = c->out[0],
		.y_row = (size_t)a.y_steps[row],
	};

	msd_walk_init(&t.heads, a.heads, row);
	for (size_t i = 0; i <= MSD_FUSED_ATTENTION_V; i++)
		msd_walk_operand(&t.heads, a.steps[i], 0);
	msd_walk_operand(&t.heads, a.y_steps, 0);
	set_masks(c, &a, &t);
	return msd_native_attend(&t, d);
}

const struct msd_native_claim msd_native_fused_attention = {MSD_FUSED_ATTENTION, may,
							    NULL, run, 0};
