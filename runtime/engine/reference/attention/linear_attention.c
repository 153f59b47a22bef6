/* LinearAttention: each head of each batch entry walks along the positions. */
#include "graph/op/attention/linear_attention.h"

#include <math.h>
#include <stdlib.h>

#include "graph/op/attention/params.h"
#include "runtime/kernel/kernels.h"

struct linear {
	const struct msd_kernel_call *c;
	struct msd_op_linear_attention a;
	double scale;
	double *states; /* one for each head of keys: [key, value] */
	double *reads;  /* one value for each head of keys */
};

/* Element @i of head @h of @heads, of @size elements each, at position @t of input
 * @in. */
static double element(const struct linear *l, size_t in, size_t t, size_t heads,
		      size_t h, size_t size, size_t i)
{
	return msd_kernel_get(l->c, in, (t * heads + h) * size + i);
}

static void decay(const struct linear *l, size_t t, size_t h, double *state)
{
	const size_t heads = (size_t)l->a.kv_heads;
	const size_t keys = (size_t)l->a.key;
	const size_t values = (size_t)l->a.value;
	const bool is_by_key = l->a.decays_by_key;

	for (size_t k = 0; k < keys; k++) {
		const double g = exp(element(l, MSD_LINEAR_DECAY, t, heads, h,
					     is_by_key ? keys : 1, is_by_key ? k : 0));

		for (size_t v = 0; v < values; v++)
			state[k * values + v] *= g;
	}
}

/* Add what position @t says to the state. */
static void update(const struct linear *l, size_t t, size_t h, double *state,
		   double *read)
{
	const size_t heads = (size_t)l->a.kv_heads;
	const size_t keys = (size_t)l->a.key;
	const size_t values = (size_t)l->a.value;
	const bool is_many = l->a.has_many_betas;
	const double beta =
		l->a.is_delta ? element(l, MSD_LINEAR_BETA, t, is_many ? heads : 1,
					is_many ? h : 0, 1, 0)
			      : 1;

	for (size_t v = 0; v < values; v++) {
		read[v] = element(l, MSD_LINEAR_V, t, heads, h, values, v);
		for (size_t k = 0; l->a.is_delta && k < keys; k++) {
			read[v] -= state[k * values + v] *
				   element(l, MSD_LINEAR_K, t, heads, h, keys, k);
		}
	}
	for (size_t k = 0; k < keys; k++) {
		const double key = element(l, MSD_LINEAR_K, t, heads, h, keys, k);

		for (size_t v = 0; v < values; v++)
			state[k * values + v] += key * beta * read[v];
	}
}

static void put_query(const struct linear *l, size_t t, size_t h, const double *state)
{
	const size_t heads = (size_t)l->a.q_heads;
	const size_t keys = (size_t)l->a.key;
	const size_t values = (size_t)l->a.value;

	for (size_t v = 0; v < values; v++) {
		double sum = 0;

		for (size_t k = 0; k < keys; k++) {
			sum += element(l, MSD_LINEAR_Q, t, heads, h, keys, k) *
			       state[k * values + v];
		}
		msd_kernel_put(l->c, 0, (t * heads + h) * values + v, l->scale * sum);
	}
}

static void run_head(const void *ctx, size_t head)
{
	const struct linear *l = ctx;
	const size_t heads = (size_t)l->a.kv_heads;
	const size_t shared = (size_t)(l->a.q_heads / l->a.kv_heads);
	const size_t n = (size_t)(l->a.key * l->a.value);
	const size_t h = head % heads;
	double *state = l->states + head * n;
	double *read = l->reads + head * (size_t)l->a.value;

	for (size_t i = 0; msd_kernel_has(l->c, MSD_LINEAR_STATE) && i < n; i++)
		state[i] = msd_kernel_get(l->c, MSD_LINEAR_STATE, head * n + i);
	for (size_t i = 0; i < (size_t)l->a.length; i++) {
		const size_t t = head / heads * (size_t)l->a.length + i;

		if (l->a.is_gated)
			decay(l, t, h, state);
		update(l, t, h, state, read);
		for (size_t q = 0; q < shared; q++)
			put_query(l, t, h * shared + q, state);
	}
	if (modser_sg_node_output(l->c->node, 1) == NULL)
		return;
	for (size_t i = 0; i < n; i++)
		msd_kernel_put(l->c, 1, head * n + i, state[i]);
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	struct linear l = {.c = c,
			   .scale = (double)msd_params_linear_attention(c->node).scale};

	if (msd_op_linear_attention_of(c->node, &l.a) != 0)
		return msd_diag_set(d, MSD_BAD_ARGUMENT, "its inputs do not fit");
	if (l.scale == 0)
		l.scale = 1 / sqrt((double)l.a.key);
	const size_t heads = (size_t)(l.a.batch * l.a.kv_heads);
	const size_t value = (size_t)l.a.value;
	l.states = calloc(heads * (size_t)l.a.key * value + 1, sizeof(*l.states));
	l.reads = calloc(heads * value + 1, sizeof(*l.reads));
	const bool is_short = l.states == NULL || l.reads == NULL;
	if (!is_short) {
		msd_kernel_each(heads, 4 * (size_t)(l.a.length * l.a.key * l.a.value),
				run_head, &l);
	}
	free(l.states);
	free(l.reads);
	return is_short ? msd_diag_no_memory(d) : MSD_OK;
}

const struct msd_kernel msd_kernel_linear_attention = {"LinearAttention", run,
						       MSD_TAKES_FLOATS_ALONE};
