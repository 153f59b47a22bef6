/*
 * Depths of a batch. Normal path: each sequence's chain of blocks is split into its
 * first block and the rest; neighbours with the same block are joined where that saves
 * work; then pages, lengths and positions become tensors. The only failure is short
 * memory.
 */
#include "runtime/kv/batch_depths.h"

#include <stdlib.h>

#include "runtime/kv/tree.h"

/* With fewer pages saved than this factor, one kernel for single tokens is faster than
 * joined entries. TVM's number: the choice of the kernel changes bits. */
#define MIN_SAVED 32

void msd_kv_plan_finish(struct msd_kv_plan *p)
{
	for (int64_t i = 0; p->v != NULL && i < p->n; i++)
		msd_ints_finish(&p->v[i].trace);
	for (int32_t d = 0; d < MSD_KV_DEPTHS; d++) {
		msd_ints_finish(&p->depths[d].blocks);
		msd_ints_finish(&p->depths[d].n_queries);
	}
	free(p->v);
	p->v = NULL;
}

static int32_t block_of(const struct msd_kv_entry *e, int32_t depth)
{
	return (size_t)depth < e->trace.n ? e->trace.v[depth] : MSD_KV_NO_BLOCK;
}

static uint64_t pages_in(const struct msd_kv_table *t, int32_t block)
{
	return block != MSD_KV_NO_BLOCK ? msd_kv_block_at(&t->blocks, block)->pages.n
					: 0;
}

/* Entries of depth @d; neighbours are joined if @joins. */
static bool entries_fill(const struct msd_kv_plan *p, int32_t d, bool joins,
			 struct msd_kv_plan_depth *ret)
{
	ret->blocks.n = 0;
	ret->n_queries.n = 0;
	for (int64_t i = 0; i < p->n; i++) {
		const int32_t block = block_of(&p->v[i], d);
		const size_t k = ret->blocks.n;

		if (joins && k > 0 && ret->blocks.v[k - 1] == block) {
			ret->n_queries.v[k - 1] += (int32_t)p->v[i].n;
		} else if (!msd_ints_push(&ret->blocks, block) ||
			   !msd_ints_push(&ret->n_queries, (int32_t)p->v[i].n)) {
			return false;
		}
	}
	return true;
}

static bool depth_plan(const struct msd_kv_table *t, struct msd_kv_plan *p, int32_t d)
{
	struct msd_kv_plan_depth *ret = &p->depths[d];
	uint64_t apart = 0;
	uint64_t joined = 0;

	if (!entries_fill(p, d, true, ret))
		return false;
	for (int64_t i = 0; i < p->n; i++)
		apart += pages_in(t, block_of(&p->v[i], d));
	for (size_t i = 0; i < ret->blocks.n; i++)
		joined += pages_in(t, ret->blocks.v[i]);
	ret->use_decode = p->is_decode && (joined == 0 || apart < MIN_SAVED * joined);
	return (!ret->use_decode && d < MSD_KV_DEPTHS - 1) ||
	       entries_fill(p, d, false, ret);
}

bool msd_kv_plan_depths(const struct msd_kv_table *t, struct msd_kv_plan *p)
{
	for (int64_t i = 0; i < p->n; i++) {
		if (!msd_kv_trace(t, p->v[i].s->last, &p->v[i].trace))
			return false;
		const int32_t n = p->v[i].trace.n < MSD_KV_DEPTHS
					  ? (int32_t)p->v[i].trace.n
					  : MSD_KV_DEPTHS;
		p->n_depths = n > p->n_depths ? n : p->n_depths;
	}
	for (int32_t d = 0; d < p->n_depths; d++) {
		if (!depth_plan(t, p, d))
			return false;
	}
	return true;
}

/* The lists of a depth that become tensors. */
struct lists {
	struct msd_ints indptr;
	struct msd_ints indices;
	struct msd_ints w_indptr; /* of layers with a window */
	struct msd_ints w_indices;
	struct msd_ints last; /* used slots of the last page of each entry */
	struct msd_ints offset;
	struct msd_ints sink;
	struct msd_ints positions;
	struct msd_ints w_positions;
};

static void lists_finish(struct lists *l)
{
	struct msd_ints *const all[] = {&l->indptr,    &l->indices,   &l->w_indptr,
					&l->w_indices, &l->last,      &l->offset,
					&l->sink,      &l->positions, &l->w_positions};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		msd_ints_finish(all[i]);
}

/* Blocks that an entry reads: one, or one and all behind it. */
struct run {
	int64_t length;
	int64_t start;
	int64_t n_pages;
	const struct msd_kv_block *last; /* NULL: nothing */
};

/* Append the pages of the entry @i of depth @d. */
static bool run_read(const struct msd_kv_table *t, const struct msd_kv_plan *p,
		     int32_t d, size_t i, struct msd_ints *indices, struct run *ret)
{
	const int32_t block = p->depths[d].blocks.v[i];
	size_t rest = MSD_KV_DEPTHS;

	*ret = (struct run){0};
	if (block == MSD_KV_NO_BLOCK)
		return true;
	const struct msd_kv_block *b = msd_kv_block_at(&t->blocks, block);
	ret->start = b->start;
	for (;;) {
		if (!msd_ints_append(indices, &b->pages))
			return false;
		ret->length += b->length;
		ret->n_pages += (int64_t)b->pages.n;
		ret->last = b;
		/* entries of the last depth are not joined: entry i is sequence i */
		if (d < MSD_KV_DEPTHS - 1 || rest >= p->v[i].trace.n)
			return true;
		b = msd_kv_block_at(&t->blocks, p->v[i].trace.v[rest++]);
	}
}

/* First slot of the window of a layer in the pages that it keeps. */
static int64_t window_offset(const struct msd_kv_table *t, int64_t window,
			     int64_t length)
{
	return length > window ? (length - window) % t->page_size : 0;
}

/* The last pages of an entry, which a layer with a window reads. */
static int64_t window_pages(const struct msd_kv_table *t, int64_t window,
			    const struct run *r)
{
	const int64_t used = r->length < window ? r->length : window;
	const int64_t n = r->length == 0 ? 0
					 : (window_offset(t, window, r->length) + used +
					    t->page_size - 1) /
						   t->page_size;

	return n < r->n_pages ? n : r->n_pages;
}

static bool window_append(const struct msd_kv_table *t, int64_t window,
			  const struct run *r, struct lists *l)
{
	const int64_t n = window_pages(t, window, r);
	const int64_t position = r->start + r->length - window;
	const struct msd_ints tail = {.v = l->indices.v + (l->indices.n - (size_t)n),
				      .n = (size_t)n};

	if (n > 0 && !msd_ints_append(&l->w_indices, &tail))
		return false;
	return msd_ints_push(&l->w_indptr, (int32_t)l->w_indices.n) &&
	       msd_ints_push(&l->w_positions,
			     position > 0 && r->last != NULL ? (int32_t)position : 0);
}

static bool entry_append(const struct msd_kv_table *t, int64_t window,
			 const struct run *r, struct lists *l)
{
	int64_t last = 0;
	int64_t offset = 0;
	int32_t sink = 0;

	if (r->last != NULL) {
		sink = r->last->sink;
		offset = window > 0 ? window_offset(t, window, r->length)
				    : r->last->offset;
		if (r->length > 0) {
			last = (r->length - sink + r->last->offset - 1) % t->page_size +
			       1;
		}
	}
	return msd_ints_push(&l->indptr, (int32_t)l->indices.n) &&
	       msd_ints_push(&l->last, (int32_t)last) &&
	       msd_ints_push(&l->offset, (int32_t)offset) &&
	       msd_ints_push(&l->sink, sink) &&
	       msd_ints_push(&l->positions, (int32_t)r->start) &&
	       (window == 0 || window_append(t, window, r, l));
}

static bool lists_fill(const struct msd_kv_table *t, int64_t window,
		       const struct msd_kv_plan *p, int32_t d, struct lists *l)
{
	struct run r;

	if (!msd_ints_push(&l->indptr, 0) || !msd_ints_push(&l->w_indptr, 0))
		return false;
	for (size_t i = 0; i < p->depths[d].blocks.n; i++) {
		if (!run_read(t, p, d, i, &l->indices, &r) ||
		    !entry_append(t, window, &r, l))
			return false;
	}
	return true;
}

static bool view_make(const struct msd_ints *indptr, const struct msd_ints *indices,
		      const struct msd_ints *lengths, int64_t rows,
		      const struct msd_ints *positions, struct msd_kv_view *ret)
{
	ret->indptr = msd_ints_tensor(indptr, 1);
	ret->indices = msd_ints_tensor(indices, 1);
	ret->lengths = msd_ints_tensor(lengths, rows);
	ret->positions = msd_ints_tensor(positions, 1);
	return ret->indptr != NULL && ret->indices != NULL && ret->lengths != NULL &&
	       ret->positions != NULL;
}

static bool views_make(const struct msd_kv_table *t, int64_t window, struct lists *l,
		       struct msd_kv_depth *ret)
{
	struct msd_ints full = {0}; /* lengths, offsets, sinks */
	bool is_ok = msd_ints_append(&full, &l->last) &&
		     msd_ints_append(&full, &l->offset) &&
		     msd_ints_append(&full, &l->sink);

	is_ok = is_ok &&
		view_make(&l->indptr, &l->indices, t->slides ? &full : &l->last,
			  t->slides ? 3 : 1, &l->positions, &ret->all);
	if (is_ok && window > 0) {
		is_ok = view_make(&l->w_indptr, &l->w_indices, &full, 3,
				  &l->w_positions, &ret->window);
	}
	msd_ints_finish(&full);
	return is_ok;
}

static bool queries_make(const struct msd_kv_plan_depth *p, struct msd_kv_depth *ret)
{
	struct msd_ints indptr = {0};
	bool is_ok = msd_ints_push(&indptr, 0);

	for (size_t i = 0; is_ok && i < p->n_queries.n; i++) {
		is_ok = msd_ints_push(&indptr,
				      msd_ints_last(&indptr) + p->n_queries.v[i]);
	}
	ret->queries = is_ok ? msd_ints_tensor(&indptr, 1) : NULL;
	msd_ints_finish(&indptr);
	return ret->queries != NULL;
}

/* Whether the tree of a sequence is read at depth @d: where its last block is, or
 * beside the new tokens. */
static bool tree_is_at(const struct msd_kv_plan *p, const struct msd_kv_entry *e,
		       int32_t d)
{
	const int32_t n = (int32_t)e->trace.n;

	return !p->append_first || d == (n < MSD_KV_DEPTHS ? n : MSD_KV_DEPTHS) - 1;
}

static bool tree_make(const struct msd_kv_plan *p, int32_t d, struct msd_kv_depth *ret)
{
	struct msd_ints indptr = {0};
	struct msd_ints spans = {0};
	bool is_ok = msd_ints_push(&indptr, 0);
	bool is_chain = true;

	for (int64_t i = 0; is_ok && i < p->n; i++) {
		if (tree_is_at(p, &p->v[i], d)) {
			is_ok = msd_kv_tree_spans(p->v[i].s, &spans);
			is_chain = is_chain && p->v[i].s->is_chain;
		}
		is_ok = is_ok && msd_ints_push(&indptr, (int32_t)(spans.n / 2));
	}
	ret->is_chain = is_chain;
	if (is_ok && !is_chain) {
		ret->tree_indptr = msd_ints_tensor(&indptr, 1);
		ret->tree_spans = msd_ints_tensor(&spans, (int64_t)spans.n / 2);
		is_ok = ret->tree_indptr != NULL && ret->tree_spans != NULL;
	}
	msd_ints_finish(&indptr);
	msd_ints_finish(&spans);
	return is_ok;
}

bool msd_kv_depths_make(const struct msd_kv_table *t, int64_t layer_window,
			bool is_tree, const struct msd_kv_plan *p,
			struct msd_kv_batch *b)
{
	/* TVM looks for trees at one depth: the last one, or beside the new tokens. */
	const int32_t tree_depth = p->append_first ? p->n_depths - 1 : 0;

	b->n_depths = p->n_depths;
	for (int32_t d = 0; d < p->n_depths; d++) {
		struct msd_kv_depth *ret = &b->depths[d];
		struct lists l = {0};

		ret->use_decode = p->depths[d].use_decode;
		ret->is_chain = true;
		bool is_ok = lists_fill(t, layer_window, p, d, &l) &&
			     views_make(t, layer_window, &l, ret) &&
			     queries_make(&p->depths[d], ret);
		lists_finish(&l);
		if (!is_ok || (is_tree && d == tree_depth && !tree_make(p, d, ret)))
			return false;
	}
	return true;
}
