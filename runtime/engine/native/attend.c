/*
 * Normal path: a thread gets neighbouring blocks of queries. It packs the keys and the
 * values of a head when it comes to a block of another head. A block takes a product
 * with the keys, a softmax of each row, and a product with the values. Scores stay in
 * the cache. Keys that no query of a block sees are left out.
 *
 * A few queries, as in a decoder's step, read keys and values where they lie: packing
 * would take longer than the products.
 *
 * Each row is computed in one order, so its bits depend neither on blocks nor on
 * threads. Infinite values take a way of their own if keys are hidden: a product would
 * make NaN of their share 0.
 */
#include "runtime/engine/native/attend.h"

#include <math.h>
#include <string.h>

#include "runtime/engine/native/claim.h"
#include "runtime/engine/native/select.h"
#include "runtime/engine/native/work.h"
#include "runtime/value/element.h"

enum {
	SCORES = 64 << 10, /* the most of a block, unless one tile has more */
	TILES = 16,        /* the most of a block */
	FEW = 4            /* queries */
};

struct job {
	const struct msd_native_attention *a;
	const struct msd_native_kernels *k;
	bool is_few;
	bool has_hidden;         /* keys without influence */
	size_t n_blocks;         /* of a head */
	size_t block;            /* queries */
	size_t pitch;            /* of the scores */
	size_t k_floats;         /* packed */
	size_t v_floats, floats; /* of a thread */
	float *scratch;
};

/* A thread's memory, and the head that is packed there. */
struct bench {
	float *product, *k, *v, *scores;
	const float *keys, *values; /* as they are; NULL: none yet */
	bool is_wild;               /* the values are */
};

/* The keys @from .. @to - 1 that query @i sees. */
static void see(const struct msd_native_attention *a, size_t head, size_t i,
		size_t *ret_from, size_t *ret_to)
{
	const struct msd_native_sight *s = &a->sight;
	const int64_t keys = (int64_t)a->keys;
	int64_t from = 0;
	int64_t to = keys;
	int64_t place = s->past + (int64_t)i;

	*ret_from = 0;
	*ret_to = a->keys;
	if (!s->is_limited)
		return;
	if (s->lengths != NULL) {
		to = msd_number_load(s->lengths_dtype, s->lengths,
				     (int64_t)(head / s->per_length))
			     .i;
		to = to < 0 ? 0 : to < keys ? to : keys;
		place = to - (int64_t)a->queries + (int64_t)i;
	}
	to = s->mask_keys < to ? s->mask_keys : to;
	if (s->is_causal && place < to)
		to = place + 1;
	if (s->right >= 0 && place < to - s->right)
		to = place + s->right + 1;
	if (s->left >= 0 && place - s->left > from)
		from = place - s->left;
	*ret_to = to > 0 ? (size_t)to : 0;
	*ret_from = from < to ? (size_t)from : *ret_to;
}

static size_t place_of(const struct msd_native_attention *a, size_t operand,
		       size_t head)
{
	return (size_t)msd_walk_place(&a->heads, operand, head);
}

/* An infinity is one, or an element that is not a number. */
static bool is_wild(const struct job *j, const float *v)
{
	const struct msd_native_attention *a = j->a;

	for (size_t i = 0; i < a->keys; i++) {
		const float *row = v + i * a->v.row;
		bool is_tame = a->v.step == 1 && j->k->is_tame(row, a->v_size);

		for (size_t e = 0; !is_tame && e < a->v_size; e++) {
			if (!isfinite(row[e * a->v.step]))
				return true;
		}
	}
	return false;
}

static void pack(const struct job *j, size_t head, struct bench *b)
{
	const struct msd_native_attention *a = j->a;
	const float *k = a->k.p + place_of(a, MSD_ATTEND_K, head);
	const float *v = a->v.p + place_of(a, MSD_ATTEND_V, head);

	if (k != b->keys && !j->is_few)
		j->k->pack_b(k, a->k.step, a->k.row, a->size, a->keys, b->k);
	if (v != b->values && !j->is_few)
		j->k->pack_b(v, a->v.row, a->v.step, a->keys, a->v_size, b->v);
	if (v != b->values)
		b->is_wild = j->has_hidden && is_wild(j, v);
	b->keys = k;
	b->values = v;
}

/* The masks of query @i, from key @key on. */
static struct msd_native_scores masks_of(const struct msd_native_attention *a,
					 size_t head, size_t i, size_t key)
{
	struct msd_native_scores s = a->scores;

	if (s.mask != NULL) {
		s.mask += (size_t)msd_walk_place(&a->masks, 0, head) + i * a->mask_row +
			  key * s.mask_step;
	}
	if (s.flags != NULL) {
		s.flags += (size_t)msd_walk_place(&a->masks, 1, head) +
			   i * a->flags_row + key * s.flags_step;
	}
	return s;
}

/* True if the masks show none of @n keys. */
static bool is_blind(const struct msd_native_scores *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const bool is_hidden =
			(s->flags != NULL && s->flags[i * s->flags_step] == 0) ||
			(s->mask != NULL && s->mask[i * s->mask_step] == -INFINITY);

		if (!is_hidden)
			return false;
	}
	return true;
}

/* Turn a row of scores into shares; keys that it does not see have none. */
static void soften_row(const struct job *j, size_t head, size_t i, size_t first,
		       size_t end, float *x)
{
	const struct msd_native_attention *a = j->a;
	size_t from;
	size_t to;

	see(a, head, i, &from, &to);
	if (from < to) {
		const struct msd_native_scores s = masks_of(a, head, i, from);

		if ((!j->k->soften(&s, to - from, x + from) && a->hides &&
		     is_blind(&s, to - from)) ||
		    (a->is_safe && isnan(x[from])))
			to = from;
	}
	memset(x + first, 0, (from - first) * sizeof(*x));
	memset(x + to, 0, (end - to) * sizeof(*x));
}

/* A row of the result where values are infinite: a share of 0 takes nothing. */
static void sum_wild(const struct msd_native_attention *a, const float *shares,
		     const float *v, size_t first, size_t end, float *y)
{
	for (size_t e = 0; e < a->v_size; e++) {
		double sum = 0;

		for (size_t i = first; i < end; i++) {
			if (shares[i] != 0) {
				sum += (double)shares[i] *
				       (double)v[i * a->v.row + e * a->v.step];
			}
		}
		y[e] = (float)sum;
	}
}

static void put_values(const struct job *j, const struct bench *b, size_t rows,
		       size_t first, size_t end, float *y)
{
	const struct msd_native_attention *a = j->a;
	const struct msd_native_product p = {
		.m = rows,
		.n = a->v_size,
		.k = end - first,
		.a = b->scores + first,
		.a_row = j->pitch,
		.a_step = 1,
		.packed_b = b->v + first * j->k->panel,
		.packed_k = a->keys,
		.y = y,
		.y_row = a->y_row,
	};

	if (!b->is_wild && !j->is_few) {
		j->k->product(&p, 0, rows, 0, a->v_size, b->product);
		return;
	}
	for (size_t i = 0; i < rows; i++, y += a->y_row) {
		const float *shares = b->scores + i * j->pitch;

		if (b->is_wild) {
			sum_wild(a, shares, b->values, first, end, y);
		} else {
			j->k->mix(shares + first, b->values + first * a->v.row,
				  a->v.row, end - first, a->v_size, y);
		}
	}
}

static void put_scores(const struct job *j, const struct bench *b, const float *q,
		       size_t rows, size_t first, size_t end)
{
	const struct msd_native_attention *a = j->a;
	const struct msd_native_product p = {
		.m = rows,
		.n = end,
		.k = a->size,
		.a = q,
		.a_row = a->q.row,
		.a_step = a->q.step,
		.packed_b = b->k,
		.y = b->scores,
		.y_row = j->pitch,
	};

	if (!j->is_few) {
		j->k->product(&p, 0, rows, first, end, b->product);
		return;
	}
	for (size_t i = 0; i < rows; i++) {
		j->k->dots(q + i * a->q.row, b->keys + first * a->k.row, a->k.row,
			   end - first, a->size, b->scores + i * j->pitch + first);
	}
}

/* Queries @i0 .. @i1 - 1 of a head. */
static void run_block(const struct job *j, const struct bench *b, size_t head,
		      size_t i0, size_t i1)
{
	const struct msd_native_attention *a = j->a;
	const float *q = a->q.p + place_of(a, MSD_ATTEND_Q, head) + i0 * a->q.row;
	const size_t rows = i1 - i0;
	size_t first;
	size_t end;
	size_t unused;

	/* Later queries see later keys. */
	see(a, head, i0, &first, &unused);
	see(a, head, i1 - 1, &unused, &end);
	first = first < end ? first / j->k->panel * j->k->panel : end;
	if (first < end)
		put_scores(j, b, q, rows, first, end);
	for (size_t i = i0; i < i1 && first < end; i++) {
		soften_row(j, head, i, first, end, b->scores + (i - i0) * j->pitch);
	}
	put_values(j, b, rows, first, end,
		   a->y + place_of(a, MSD_ATTEND_Y, head) + i0 * a->y_row);
}

static void run_blocks(const void *ctx, size_t from, size_t to, size_t thread)
{
	const struct job *j = ctx;
	float *room = j->scratch + thread * j->floats;
	struct bench b = {.k = room,
			  .v = room + j->k_floats,
			  .scores = room + j->k_floats + j->v_floats,
			  .product = room + j->floats - *j->k->product_scratch};

	for (size_t i = from; i < to; i++) {
		const size_t head = i / j->n_blocks;
		const size_t i0 = i % j->n_blocks * j->block;
		const size_t left = j->a->queries - i0;

		pack(j, head, &b);
		run_block(j, &b, head, i0, i0 + (left < j->block ? left : j->block));
	}
}

static size_t align(size_t floats)
{
	return (floats + 15) / 16 * 16;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

msd_err msd_native_attend(const struct msd_native_attention *a, struct msd_diag *d)
{
	const struct msd_native_kernels *k = msd_native_kernels();
	const size_t n_heads = msd_native_count(a->heads.dims, 0, a->heads.ndim);
	const size_t tiles = SCORES / (a->keys + 1) / k->rows;
	struct job j = {
		.a = a,
		.k = k,
		.block = k->rows * (tiles == 0 ? 1 : smaller(tiles, TILES)),
		.pitch = align(a->keys),
		.is_few = a->queries <= FEW && a->q.step == 1 && a->k.step == 1 &&
			  a->v.step == 1,
		.has_hidden =
			a->hides && (a->sight.is_limited || a->scores.mask != NULL ||
				     a->scores.flags != NULL),
	};

	if (n_heads == 0 || a->queries == 0)
		return MSD_OK;
	if (!j.is_few) {
		j.k_floats = align(k->pack_b_floats(a->size, a->keys));
		j.v_floats = align(k->pack_b_floats(a->keys, a->v_size));
	}
	j.block = smaller(j.block, a->queries);
	j.n_blocks = (a->queries + j.block - 1) / j.block;
	j.floats = j.k_floats + j.v_floats + align(j.block * j.pitch) +
		   *k->product_scratch;
	j.scratch = msd_native_scratch_take(msd_native_threads() * j.floats);
	if (j.scratch == NULL)
		return msd_diag_no_memory(d);
	const double products =
		(double)j.block * (double)a->keys * (double)(a->size + a->v_size);
	msd_native_each(n_heads * j.n_blocks,
			products / 32 + (double)(j.block * a->keys) / 2, run_blocks,
			&j);
	msd_native_scratch_give(j.scratch);
	return MSD_OK;
}
