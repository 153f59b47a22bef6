/*
 * Attention: each head of each batch entry is computed on its own, one query after
 * the other, in double. A hidden key has no influence, also if it is not a number.
 */
#include "graph/op/attention/attention.h"

#include <math.h>
#include <stdlib.h>

#include "graph/op/attention/params.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"
#include "runtime/value/element.h"

/* Rows of elements, by batch entry, head and position. */
struct rows {
	struct msd_dtype dtype;
	const void *p; /* NULL: none */
	int64_t batch, head, row;
};

struct attention {
	const struct msd_kernel_call *c;
	struct msd_op_attention a;
	struct rows q, k, v, past_k, past_v;
	double scale, cap;
	bool is_causal;
	int64_t left, right; /* keys around a query; -1: all */
	int64_t mode;
	int64_t mask_steps[4]; /* 0 where the mask is broadcast */
	int64_t mask_keys;
	double *scores; /* room for the keys of each head */
	double *biases;
};

static struct rows rows_of(const struct msd_kernel_call *c, size_t i, int64_t heads,
			   int64_t length, int64_t size, bool is_packed)
{
	if (!msd_kernel_has(c, i))
		return (struct rows){.p = NULL};
	return (struct rows){
		.dtype = msd_kernel_in_dtype(c, i),
		.p = c->in[i],
		.batch = heads * length * size,
		.head = is_packed ? size : length * size,
		.row = is_packed ? heads * size : size,
	};
}

static double at(const struct rows *r, int64_t b, int64_t h, int64_t i, int64_t d)
{
	return msd_row_at(r->dtype, r->p,
			  (size_t)(b * r->batch + h * r->head + i * r->row + d));
}

/* Element @d of key or value @j, which is of the past or of @now. */
static double joined(const struct attention *t, const struct rows *past,
		     const struct rows *now, int64_t b, int64_t h, int64_t j, int64_t d)
{
	return j < t->a.past ? at(past, b, h, j, d) : at(now, b, h, j - t->a.past, d);
}

static double mask_at(const struct attention *t, int64_t b, int64_t h, int64_t i,
		      int64_t j)
{
	const int64_t *steps = t->mask_steps;
	const size_t k = (size_t)(b * steps[0] + h * steps[1] + i * steps[2] + j);

	if (j >= t->mask_keys)
		return -INFINITY;
	if (!msd_dtype_is_bool(msd_kernel_in_dtype(t->c, MSD_ATTENTION_MASK)))
		return msd_kernel_get(t->c, MSD_ATTENTION_MASK, k);
	return ((const uint8_t *)t->c->in[MSD_ATTENTION_MASK])[k] != 0 ? 0 : -INFINITY;
}

/* The keys of batch entry @b, if it says how many; more than there are count as all. */
static int64_t length_of(const struct attention *t, int64_t b)
{
	const int64_t all = t->a.past + t->a.kv_length;

	if (!msd_kernel_has(t->c, MSD_ATTENTION_LENGTHS))
		return all;
	const int64_t n =
		msd_number_load(msd_kernel_in_dtype(t->c, MSD_ATTENTION_LENGTHS),
				t->c->in[MSD_ATTENTION_LENGTHS], b)
			.i;
	return n < 0 ? 0 : n < all ? n : all;
}

/* Addend of the score of query @i and key @j; minus infinity: the key is hidden. */
static double bias_at(const struct attention *t, int64_t b, int64_t h, int64_t i,
		      int64_t j)
{
	const bool has_lengths = msd_kernel_has(t->c, MSD_ATTENTION_LENGTHS);
	const int64_t length = length_of(t, b);
	/* Place of the query among the keys. */
	const int64_t place = i + (has_lengths ? length - t->a.q_length : t->a.past);

	if (j >= length || (t->is_causal && j > place) ||
	    (t->left >= 0 && place - j > t->left) ||
	    (t->right >= 0 && j - place > t->right))
		return -INFINITY;
	return msd_kernel_has(t->c, MSD_ATTENTION_MASK) ? mask_at(t, b, h, i, j) : 0;
}

/* Write what output 3 shows of the scores, if it is of @mode. */
static void show(const struct attention *t, int64_t mode, size_t row,
		 const double *scores)
{
	const size_t n = (size_t)(t->a.past + t->a.kv_length);

	if (t->mode != mode || modser_sg_node_output(t->c->node, 3) == NULL)
		return;
	for (size_t j = 0; j < n; j++)
		msd_kernel_put(t->c, 3, row * n + j, scores[j]);
}

/* Turn scores into shares of 1; a query that sees no key gets zeros. */
static void soften(double *scores, const double *biases, int64_t n)
{
	double most = -INFINITY;
	double sum = 0;
	bool sees_any = false;

	for (int64_t j = 0; j < n; j++) {
		most = scores[j] > most || isnan(scores[j]) ? scores[j] : most;
		sees_any = sees_any || biases[j] != -INFINITY;
	}
	for (int64_t j = 0; j < n; j++) {
		scores[j] = sees_any ? exp(scores[j] - most) : 0;
		sum += scores[j];
	}
	for (int64_t j = 0; j < n && sum != 0; j++)
		scores[j] /= sum;
}

static void put_values(const struct attention *t, int64_t b, int64_t h, int64_t i,
		       const double *shares)
{
	const struct msd_op_attention *a = &t->a;
	const int64_t n = a->past + a->kv_length;
	const int64_t kv = h / (a->q_heads / a->kv_heads);
	const int64_t place = a->is_packed ? (b * a->q_length + i) * a->q_heads + h
					   : (b * a->q_heads + h) * a->q_length + i;

	for (int64_t d = 0; d < a->v_head; d++) {
		double sum = 0;

		for (int64_t j = 0; j < n; j++) {
			if (shares[j] == 0)
				continue;
			sum += shares[j] * joined(t, &t->past_v, &t->v, b, kv, j, d);
		}
		msd_kernel_put(t->c, 0, (size_t)(place * a->v_head + d), sum);
	}
}

static void run_query(const struct attention *t, int64_t b, int64_t h, int64_t i)
{
	const struct msd_op_attention *a = &t->a;
	const int64_t n = a->past + a->kv_length;
	const int64_t head = b * a->q_heads + h;
	const size_t row = (size_t)(head * a->q_length + i);
	const int64_t kv = h / (a->q_heads / a->kv_heads);
	double *scores = t->scores + head * n;
	double *biases = t->biases + head * n;

	for (int64_t j = 0; j < n; j++) {
		scores[j] = 0;
		for (int64_t d = 0; d < a->head; d++) {
			scores[j] += at(&t->q, b, h, i, d) *
				     joined(t, &t->past_k, &t->k, b, kv, j, d);
		}
		scores[j] *= t->scale;
	}
	show(t, 0, row, scores);
	for (int64_t j = 0; j < n && t->cap > 0; j++)
		scores[j] = t->cap * tanh(scores[j] / t->cap);
	show(t, 1, row, scores);
	for (int64_t j = 0; j < n; j++) {
		biases[j] = bias_at(t, b, h, i, j);
		scores[j] = biases[j] == -INFINITY ? -INFINITY : scores[j] + biases[j];
	}
	show(t, 2, row, scores);
	soften(scores, biases, n);
	show(t, 3, row, scores);
	put_values(t, b, h, i, scores);
}

static void run_head(const void *ctx, size_t head)
{
	const struct attention *t = ctx;
	const int64_t b = (int64_t)head / t->a.q_heads;
	const int64_t h = (int64_t)head % t->a.q_heads;

	for (int64_t i = 0; i < t->a.q_length; i++)
		run_query(t, b, h, i);
}

/* Output @k, the past and the present of keys or values, if it is requested. */
static void put_present(const struct attention *t, size_t k, const struct rows *past,
			const struct rows *now, int64_t size)
{
	const int64_t n = t->a.past + t->a.kv_length;
	size_t place = 0;

	if (modser_sg_node_output(t->c->node, k) == NULL)
		return;
	for (int64_t b = 0; b < t->a.batch; b++) {
		for (int64_t h = 0; h < t->a.kv_heads; h++) {
			for (int64_t i = 0; i < n * size; i++) {
				msd_kernel_put(
					t->c, k, place++,
					joined(t, past, now, b, h, i / size, i % size));
			}
		}
	}
}

static void read_mask(struct attention *t)
{
	const int64_t *dims = msd_kernel_in_dims(t->c, MSD_ATTENTION_MASK);
	const size_t ndim = msd_kernel_in_ndim(t->c, MSD_ATTENTION_MASK);
	int64_t step = dims[ndim - 1];

	t->mask_keys = dims[ndim - 1];
	for (size_t i = ndim - 1; i-- > 0; step *= dims[i])
		t->mask_steps[4 - ndim + i] = dims[i] == 1 ? 0 : step;
}

static void read(struct attention *t)
{
	const struct msd_kernel_call *c = t->c;
	const struct msd_op_attention *a = &t->a;
	const double scale = (double)msd_params_attention(c->node).scale;

	t->q = rows_of(c, MSD_ATTENTION_Q, a->q_heads, a->q_length, a->head,
		       a->is_packed);
	t->k = rows_of(c, MSD_ATTENTION_K, a->kv_heads, a->kv_length, a->head,
		       a->is_packed);
	t->v = rows_of(c, MSD_ATTENTION_V, a->kv_heads, a->kv_length, a->v_head,
		       a->is_packed);
	t->past_k =
		rows_of(c, MSD_ATTENTION_PAST_K, a->kv_heads, a->past, a->head, false);
	t->past_v = rows_of(c, MSD_ATTENTION_PAST_V, a->kv_heads, a->past, a->v_head,
			    false);
	t->scale = scale != 0 ? scale : 1 / sqrt((double)a->head);
	t->cap = (double)msd_params_attention(c->node).softcap;
	t->is_causal = msd_params_attention(c->node).is_causal != 0;
	t->left = msd_params_attention(c->node).left_window_size;
	t->right = msd_params_attention(c->node).right_window_size;
	t->mode = msd_params_attention(c->node).qk_matmul_output_mode;
	if (msd_kernel_has(c, MSD_ATTENTION_MASK))
		read_mask(t);
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	struct attention t = {.c = c};

	if (msd_op_attention_of(c->node, &t.a) != 0)
		return msd_diag_set(d, MSD_BAD_ARGUMENT, "its inputs do not fit");
	const size_t heads = (size_t)(t.a.batch * t.a.q_heads);
	const size_t room = heads * (size_t)(t.a.past + t.a.kv_length) + 1;
	t.scores = calloc(room, sizeof(*t.scores));
	t.biases = calloc(room, sizeof(*t.biases));
	const bool is_short = t.scores == NULL || t.biases == NULL;
	if (!is_short) {
		read(&t);
		msd_kernel_each(heads,
				4 * (size_t)(t.a.q_length * t.a.kv_length * t.a.head),
				run_head, &t);
		put_present(&t, 1, &t.past_k, &t.k, t.a.head);
		put_present(&t, 2, &t.past_v, &t.v, t.a.v_head);
	}
	free(t.scores);
	free(t.biases);
	return is_short ? msd_diag_no_memory(d) : MSD_OK;
}

const struct msd_kernel msd_kernel_attention = {"Attention", run, MSD_TAKES_NUMBERS};
