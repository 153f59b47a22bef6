/*
 * The start of a forward.
 *
 * Normal path: check the request and plan the growth of each sequence; choose the
 * entries of each depth (batch_depths.c); apply the growth; compute the positions and
 * slots of new tokens. If all sequences append one token, these are stored first, and
 * the kernels read them from the pages. Failures: all but short memory are found before
 * the first change.
 */
#include "runtime/kv/batch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kv/batch_depths.h"
#include "runtime/kv/tree.h"
#include "runtime/value/error.h"

static void view_finish(struct msd_kv_view *v)
{
	struct msd_tensor *all[] = {v->indptr, v->indices, v->lengths, v->positions};

	for (size_t i = 0; i < 4; i++) {
		if (all[i] != NULL)
			msd_obj_unref(&all[i]->obj);
	}
}

static void drop(struct msd_tensor *t)
{
	if (t != NULL)
		msd_obj_unref(&t->obj);
}

void msd_kv_batch_finish(struct msd_kv_batch *b)
{
	for (int32_t d = 0; d < MSD_KV_DEPTHS; d++) {
		view_finish(&b->depths[d].all);
		view_finish(&b->depths[d].window);
		drop(b->depths[d].queries);
		drop(b->depths[d].tree_indptr);
		drop(b->depths[d].tree_spans);
	}
	drop(b->slots);
	drop(b->indptr);
	drop(b->q_positions);
	drop(b->k_positions);
	msd_ints_finish(&b->slots_of);
	free(b->ids);
	free(b->lengths);
	*b = (struct msd_kv_batch){0};
}

/* One sequence of the batch. */
static int entry_check(const struct msd_kv_table *t, const struct msd_kv_request *r,
		       int64_t i, struct msd_kv_entry *e)
{
	const int64_t n = r->lengths->dim[i];

	e->s = msd_kv_find(t, r->ids->dim[i]);
	if (e->s == NULL)
		return -1;
	if (n <= 0) {
		return msd_abi_raise("ValueError",
				     "sequence %" PRId64 " cannot grow by %" PRId64
				     " tokens",
				     e->s->id, n);
	}
	if (e->s->batch == t->n_batches) {
		return msd_abi_raise("ValueError",
				     "sequence %" PRId64 " is twice in the batch",
				     e->s->id);
	}
	e->s->batch = t->n_batches;
	if (r->parents == NULL && !e->s->is_accepted) {
		return msd_abi_raise(
			"ValueError",
			"sequence %" PRId64
			" has a token tree whose nodes are not accepted yet",
			e->s->id);
	}
	e->n = n;
	if ((int64_t)e->s->parents.n >
	    msd_kv_block_at(&t->blocks, e->s->last)->length) {
		return msd_abi_raise("ValueError",
				     "sequence %" PRId64
				     ": its token tree is longer than its last block",
				     e->s->id);
	}
	e->before = msd_kv_block_at(&t->blocks, e->s->last)->length;
	e->start = e->s->length - (int32_t)e->s->parents.n;
	return 0;
}

static int parents_check(const struct msd_kv_limits *limits,
			 const struct msd_kv_request *r, const struct msd_kv_plan *p)
{
	const int64_t *at = r->parents != NULL ? r->parents->dim : NULL;

	if (at == NULL)
		return 0;
	if (!limits->may_tree) {
		return msd_abi_raise("ValueError",
				     "this cache takes no token trees: its layers have "
				     "a window or apply rotary embedding inline");
	}
	if ((int64_t)r->parents->ndim != p->total) {
		return msd_abi_raise("ValueError",
				     "the token trees have %zu nodes, the sequences "
				     "grow by %" PRId64,
				     r->parents->ndim, p->total);
	}
	for (int64_t i = 0; i < p->n; i++) {
		if (msd_kv_tree_check(p->v[i].s, at, p->v[i].n) != 0)
			return -1;
		at += p->v[i].n;
	}
	return 0;
}

/* Check the request; fill in @p. */
static int request_check(const struct msd_kv_table *t,
			 const struct msd_kv_limits *limits,
			 const struct msd_kv_request *r, struct msd_kv_plan *p)
{
	int64_t n_free = msd_kv_pages_free(&t->pages);

	for (int64_t i = 0; i < p->n; i++) {
		if (entry_check(t, r, i, &p->v[i]) != 0)
			return -1;
		if (p->v[i].n > limits->max_tokens - p->total) {
			return msd_abi_raise(
				"ValueError",
				"the batch has more tokens than the %" PRId64
				" that the cache was created for",
				limits->max_tokens);
		}
		p->total += p->v[i].n;
		p->is_decode = p->is_decode && p->v[i].n == 1;
		p->has_tree = p->has_tree || !p->v[i].s->is_accepted;
		if (msd_kv_growth_plan(t, p->v[i].s, p->v[i].n, n_free,
				       &p->v[i].growth) != 0)
			return -1;
		n_free -= p->v[i].growth.n_new - p->v[i].growth.n_old;
	}
	return parents_check(limits, r, p);
}

static bool grow(struct msd_kv_table *t, const struct msd_kv_plan *p)
{
	for (int64_t i = 0; i < p->n; i++) {
		if (!msd_kv_growth_apply(t, p->v[i].s, &p->v[i].growth))
			return false;
	}
	return true;
}

static bool trees_append(const struct msd_kv_request *r, const struct msd_kv_plan *p)
{
	const int64_t *at = r->parents != NULL ? r->parents->dim : NULL;

	for (int64_t i = 0; i < p->n; i++) {
		if (at == NULL) {
			msd_kv_forget_tree(p->v[i].s);
			continue;
		}
		if (!msd_kv_tree_append(p->v[i].s, at, p->v[i].n))
			return false;
		at += p->v[i].n;
	}
	return true;
}

/* The slot of token @i of the new ones; -1: it is not stored, because the sink of a
 * window has its place. */
static int32_t slot_of(const struct msd_kv_table *t, const struct msd_kv_entry *e,
		       int64_t i)
{
	const struct msd_kv_block *b = msd_kv_block_at(&t->blocks, e->s->last);
	int64_t at = e->before + i;

	if (at >= b->sink) {
		at = b->length - e->n + i;
		if (at < b->sink)
			return -1;
		at += b->offset - b->sink;
	}
	const int64_t page = at / t->page_size;
	if ((uint64_t)page >= b->pages.n)
		return -1;
	return b->pages.v[page] * t->page_size + (int32_t)(at % t->page_size);
}

struct places {
	struct msd_ints slots;
	struct msd_ints indptr;
	struct msd_ints q;
	struct msd_ints k;
};

static bool places_fill(const struct msd_kv_table *t, const struct msd_kv_plan *p,
			struct places *ret)
{
	bool is_ok = msd_ints_reserve(&ret->slots, (size_t)p->total) &&
		     msd_ints_reserve(&ret->q, (size_t)p->total) &&
		     msd_ints_push(&ret->indptr, 0);

	for (int64_t i = 0; is_ok && i < p->n; i++) {
		const struct msd_kv_entry *e = &p->v[i];
		const int32_t *depths = e->s->depths.v;
		const int64_t first = (int64_t)e->s->depths.n - e->n;

		is_ok = msd_ints_push(&ret->k, e->start) &&
			msd_ints_push(&ret->indptr,
				      msd_ints_last(&ret->indptr) + (int32_t)e->n);
		for (int64_t j = 0; is_ok && j < e->n; j++) {
			ret->slots.v[ret->slots.n++] = slot_of(t, e, j);
			ret->q.v[ret->q.n++] =
				e->start +
				(e->s->depths.n > 0 ? depths[first + j] : (int32_t)j);
		}
	}
	return is_ok;
}

static bool places_make(const struct msd_kv_table *t, const struct msd_kv_plan *p,
			struct msd_kv_batch *b)
{
	struct places x = {0};
	bool is_ok = places_fill(t, p, &x);

	if (is_ok) {
		b->slots = msd_ints_tensor(&x.slots, 1);
		b->indptr = msd_ints_tensor(&x.indptr, 1);
		b->q_positions = msd_ints_tensor(&x.q, 1);
		b->k_positions = msd_ints_tensor(&x.k, 1);
		is_ok = b->slots != NULL && b->indptr != NULL &&
			b->q_positions != NULL && b->k_positions != NULL;
	}
	msd_ints_finish(&x.indptr);
	msd_ints_finish(&x.q);
	msd_ints_finish(&x.k);
	b->slots_of = x.slots;
	return is_ok;
}

static bool batch_make(struct msd_kv_table *t, const struct msd_kv_limits *limits,
		       const struct msd_kv_request *r, struct msd_kv_plan *p,
		       struct msd_kv_batch *b)
{
	if (!msd_kv_plan_depths(t, p))
		return false;
	b->append_first =
		(!t->slides && p->depths[p->n_depths - 1].use_decode) || p->has_tree;
	p->append_first = b->append_first;
	if (!trees_append(r, p) || (b->append_first && !grow(t, p)))
		return false;
	if (!msd_kv_depths_make(t, limits->layer_window, r->parents != NULL, p, b))
		return false;
	return (b->append_first || grow(t, p)) && places_make(t, p, b);
}

static int64_t *copy_of(const struct msd_shape *s)
{
	int64_t *v = calloc(s->ndim + 1, sizeof(*v));

	if (v != NULL && s->ndim > 0)
		memcpy(v, s->dim, s->ndim * sizeof(*v));
	return v;
}

int msd_kv_batch_begin(struct msd_kv_table *t, const struct msd_kv_limits *limits,
		       const struct msd_kv_request *r, struct msd_kv_batch *ret)
{
	struct msd_kv_batch b = {.n = (int64_t)r->ids->ndim};
	struct msd_kv_plan p = {.n = b.n, .is_decode = true};
	int rc;

	if (r->ids->ndim != r->lengths->ndim || b.n < 1 || b.n > t->max_sequences) {
		return msd_abi_raise("ValueError",
				     "a batch of %zu sequences with %zu lengths: "
				     "expected as many, from 1 to %d",
				     r->ids->ndim, r->lengths->ndim,
				     (int)t->max_sequences);
	}
	t->n_batches++;
	p.v = calloc((size_t)b.n, sizeof(*p.v));
	b.ids = copy_of(r->ids);
	b.lengths = copy_of(r->lengths);
	if (p.v == NULL || b.ids == NULL || b.lengths == NULL) {
		rc = msd_abi_no_memory();
	} else {
		rc = request_check(t, limits, r, &p);
		if (rc == 0 && !batch_make(t, limits, r, &p, &b))
			rc = msd_abi_no_memory();
	}
	msd_kv_plan_finish(&p);
	if (rc != 0) {
		msd_kv_batch_finish(&b);
		return -1;
	}
	b.total = p.total;
	b.is_open = true;
	msd_kv_batch_finish(ret);
	*ret = b;
	return 0;
}
