/*
 * Sequences: add, remove, fork, pop.
 *
 * Normal path: a fork splits the block that has the position, so that both sequences
 * share the pages before it, and copies the page that is shared only in part. A pop
 * releases pages of blocks that only this sequence uses; in a shared block it becomes a
 * fork. Failures: each function checks its arguments, the pages and the memory before
 * the first change.
 */
#include "runtime/kv/sequences.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/value/error.h"

bool msd_kv_table_init(struct msd_kv_table *t, int32_t n_pages)
{
	t->n = 0;
	t->v = calloc((size_t)t->max_sequences + 1, sizeof(struct msd_kv_sequence *));
	return t->v != NULL && msd_kv_pages_init(&t->pages, n_pages);
}

void msd_kv_forget_tree(struct msd_kv_sequence *s)
{
	s->parents.n = 0;
	s->depths.n = 0;
	s->is_chain = true;
	s->is_accepted = true;
}

static void sequence_free(struct msd_kv_sequence *s)
{
	msd_ints_finish(&s->parents);
	msd_ints_finish(&s->depths);
	free(s);
}

void msd_kv_table_clear(struct msd_kv_table *t)
{
	for (int32_t i = 0; i < t->n; i++)
		sequence_free(t->v[i]);
	t->n = 0;
	msd_kv_blocks_clear(&t->blocks);
	msd_kv_pages_clear(&t->pages);
}

void msd_kv_table_finish(struct msd_kv_table *t)
{
	if (t->v != NULL)
		msd_kv_table_clear(t);
	free(t->v);
	t->v = NULL;
	msd_kv_blocks_finish(&t->blocks);
	msd_kv_pages_finish(&t->pages);
}

/* The index of @id, or the index where it belongs. */
static int32_t index_of(const struct msd_kv_table *t, int64_t id)
{
	int32_t low = 0;
	int32_t high = t->n;

	while (low < high) {
		const int32_t middle = low + (high - low) / 2;

		if (t->v[middle]->id < id) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static bool is_at(const struct msd_kv_table *t, int32_t i, int64_t id)
{
	return i < t->n && t->v[i]->id == id;
}

struct msd_kv_sequence *msd_kv_find(const struct msd_kv_table *t, int64_t id)
{
	const int32_t i = index_of(t, id);

	if (is_at(t, i, id))
		return t->v[i];
	(void)msd_abi_raise("ValueError", "sequence %" PRId64 " is not in the cache",
			    id);
	return NULL;
}

/* Check that @id can be added, and make room for it and for @n_blocks blocks. */
static struct msd_kv_sequence *sequence_new(struct msd_kv_table *t, int64_t id,
					    size_t n_blocks)
{
	struct msd_kv_sequence *s;

	if (is_at(t, index_of(t, id), id)) {
		(void)msd_abi_raise("ValueError",
				    "sequence %" PRId64 " is already in the cache", id);
		return NULL;
	}
	if (t->n >= t->max_sequences) {
		(void)msd_abi_raise("ValueError",
				    "sequence %" PRId64
				    ": the cache was created for %d sequences",
				    id, (int)t->max_sequences);
		return NULL;
	}
	s = msd_kv_blocks_reserve(&t->blocks, n_blocks) ? calloc(1, sizeof(*s)) : NULL;
	if (s == NULL) {
		(void)msd_abi_no_memory();
		return NULL;
	}
	*s = (struct msd_kv_sequence){.id = id,
				      .window = MSD_KV_NO_WINDOW,
				      .is_chain = true,
				      .is_accepted = true};
	return s;
}

static void sequence_insert(struct msd_kv_table *t, struct msd_kv_sequence *s)
{
	const int32_t i = index_of(t, s->id);

	memmove(&t->v[i + 1], &t->v[i], (size_t)(t->n - i) * sizeof(t->v[0]));
	t->v[i] = s;
	t->n++;
}

int msd_kv_add(struct msd_kv_table *t, int64_t id)
{
	struct msd_kv_sequence *s = sequence_new(t, id, 1);

	if (s == NULL)
		return -1;
	s->last = msd_kv_blocks_take(&t->blocks);
	msd_kv_block_at(&t->blocks, s->last)->refs = 1;
	sequence_insert(t, s);
	return 0;
}

static void pages_release(struct msd_kv_table *t, struct msd_ints *pages, size_t from)
{
	for (size_t i = from; i < pages->n; i++)
		msd_kv_pages_release(&t->pages, pages->v[i]);
	pages->n = from;
}

/* Drop a reference to @at, and the blocks before it that have no other. */
static void chain_release(struct msd_kv_table *t, int32_t at)
{
	while (at != MSD_KV_NO_BLOCK) {
		struct msd_kv_block *b = msd_kv_block_at(&t->blocks, at);
		const int32_t parent = b->parent;

		if (--b->refs > 0)
			return;
		pages_release(t, &b->pages, 0);
		msd_kv_blocks_release(&t->blocks, at);
		at = parent;
	}
}

int msd_kv_remove(struct msd_kv_table *t, int64_t id)
{
	struct msd_kv_sequence *s = msd_kv_find(t, id);
	const int32_t i = index_of(t, id);

	if (s == NULL)
		return -1;
	chain_release(t, s->last);
	t->n--;
	memmove(&t->v[i], &t->v[i + 1], (size_t)(t->n - i) * sizeof(t->v[0]));
	sequence_free(s);
	return 0;
}

/* Where a chain is cut. */
struct cut {
	int32_t block;   /* the block that has the position */
	int32_t n_pages; /* its pages before the position that are full */
	int32_t n_slots; /* slots of the next page */
};

/* Find position @at of a chain of @length tokens. */
static struct cut cut_find(const struct msd_kv_table *t, int32_t last, int32_t length,
			   int32_t at)
{
	const struct msd_kv_block *b = msd_kv_block_at(&t->blocks, last);
	int32_t begin = length - b->length;

	while (at < begin && b->parent != MSD_KV_NO_BLOCK) {
		last = b->parent;
		b = msd_kv_block_at(&t->blocks, last);
		begin -= b->length;
	}
	return (struct cut){last, (at - begin) / t->page_size,
			    (at - begin) % t->page_size};
}

/* Check that @s can be cut at @at, if @n_free pages are free. */
static int cut_check(const struct msd_kv_table *t, const struct msd_kv_sequence *s,
		     const struct cut *cut, int32_t at, int32_t sink, int32_t n_free)
{
	const struct msd_kv_block *b = msd_kv_block_at(&t->blocks, cut->block);

	if (!s->is_accepted) {
		return msd_abi_raise(
			"ValueError",
			"sequence %" PRId64
			" has a token tree whose nodes are not accepted yet",
			s->id);
	}
	if (s->window != MSD_KV_NO_WINDOW && at > sink) {
		return msd_abi_raise(
			"ValueError",
			"sequence %" PRId64
			" has a sliding window: it can be cut in its first %d tokens, "
			"not at %d",
			s->id, (int)sink, (int)at);
	}
	if (cut->n_slots > 0 && n_free == 0)
		return msd_abi_raise("ValueError", "no page of the cache is free");
	if ((size_t)cut->n_pages + (cut->n_slots > 0) > b->pages.n) {
		return msd_abi_raise("ValueError",
				     "sequence %" PRId64 " has no page at %d", s->id,
				     (int)at);
	}
	return 0;
}

/* Move the first pages of a block into a new one before it, with two references. */
static bool block_split(struct msd_kv_table *t, const struct cut *cut)
{
	const int32_t n = cut->n_pages;
	struct msd_ints first = {0};

	if (!msd_ints_reserve(&first, (size_t)n))
		return false;
	const int32_t i = msd_kv_blocks_take(&t->blocks);
	struct msd_kv_block *before = msd_kv_block_at(&t->blocks, i);
	struct msd_kv_block *b = msd_kv_block_at(&t->blocks, cut->block);
	memcpy(first.v, b->pages.v, (size_t)n * sizeof(*first.v));
	first.n = (size_t)n;
	*before = (struct msd_kv_block){.pages = first,
					.length = n * t->page_size,
					.start = b->start,
					.parent = b->parent,
					.refs = 2};
	b->pages.n -= (size_t)n;
	memmove(b->pages.v, b->pages.v + n, b->pages.n * sizeof(*b->pages.v));
	b->start += before->length;
	b->length -= before->length;
	b->parent = i;
	return true;
}

/* A block that continues the chain @s before position @at; it gets page @page, or
 * MSD_KV_NO_PAGE. There is room for two blocks. Returns MSD_KV_NO_BLOCK if memory is
 * short. */
static int32_t block_branch(struct msd_kv_table *t, struct msd_kv_sequence *s,
			    const struct cut *cut, int32_t at, int32_t page)
{
	struct msd_ints pages = {0};

	if (!msd_ints_reserve(&pages, 1))
		return MSD_KV_NO_BLOCK;
	if (cut->n_pages > 0 && !block_split(t, cut)) {
		msd_ints_finish(&pages);
		return MSD_KV_NO_BLOCK;
	}
	const int32_t parent = msd_kv_block_at(&t->blocks, cut->block)->parent;
	if (cut->n_pages == 0 && parent != MSD_KV_NO_BLOCK)
		msd_kv_block_at(&t->blocks, parent)->refs++;
	if (cut->n_pages > 0 && s->window != MSD_KV_NO_WINDOW && cut->block == s->last)
		s->sink -= cut->n_pages * t->page_size;
	const int32_t i = msd_kv_blocks_take(&t->blocks);
	if (page != MSD_KV_NO_PAGE)
		pages.v[pages.n++] = page;
	*msd_kv_block_at(&t->blocks, i) =
		(struct msd_kv_block){.pages = pages,
				      .length = cut->n_slots,
				      .start = at - cut->n_slots,
				      .parent = parent,
				      .refs = 1};
	return i;
}

/* The same with the page of its own that a cut inside of a page needs. */
static int branch_make(struct msd_kv_table *t, struct msd_kv_sequence *s,
		       const struct cut *cut, int32_t at, int32_t *ret)
{
	int32_t page = MSD_KV_NO_PAGE;

	if (cut->n_slots > 0) {
		const struct msd_kv_block *b = msd_kv_block_at(&t->blocks, cut->block);

		page = msd_kv_pages_take(&t->pages);
		if (t->copy_page(t->ctx, b->pages.v[cut->n_pages], page,
				 cut->n_slots) != 0) {
			msd_kv_pages_release(&t->pages, page);
			return -1;
		}
	}
	*ret = block_branch(t, s, cut, at, page);
	if (*ret != MSD_KV_NO_BLOCK)
		return 0;
	if (page != MSD_KV_NO_PAGE)
		msd_kv_pages_release(&t->pages, page);
	return msd_abi_no_memory();
}

/* A sequence that is cut where its pages end gets an empty block, so that it can grow
 * beside its fork. */
static void chain_extend(struct msd_kv_table *t, struct msd_kv_sequence *s)
{
	const int32_t i = msd_kv_blocks_take(&t->blocks);

	*msd_kv_block_at(&t->blocks, i) =
		(struct msd_kv_block){.start = s->length, .parent = s->last, .refs = 1};
	s->last = i;
}

int msd_kv_fork(struct msd_kv_table *t, int64_t parent, int64_t child, int64_t at)
{
	struct msd_kv_sequence *s = msd_kv_find(t, parent);
	struct msd_kv_sequence *made;
	int rc;

	if (s == NULL)
		return -1;
	if (at < -1 || at > s->length) {
		return msd_abi_raise("ValueError",
				     "sequence %" PRId64
				     " has %d tokens: it cannot be forked at %" PRId64,
				     parent, (int)s->length, at);
	}
	made = sequence_new(t, child, 3);
	if (made == NULL)
		return -1;
	const int32_t pos = at < 0 ? s->length : (int32_t)at;
	const struct msd_kv_block *last = msd_kv_block_at(&t->blocks, s->last);
	const int32_t sink = s->length - last->length + s->sink;
	struct cut cut = cut_find(t, s->last, s->length, pos);
	const bool is_end =
		pos == s->length && pos % t->page_size == 0 && last->length > 0;
	if (is_end)
		cut = (struct cut){.block = s->last};
	rc = cut_check(t, s, &cut, pos, sink, msd_kv_pages_free(&t->pages));
	if (rc == 0 && is_end) {
		chain_extend(t, s);
		cut.block = s->last;
	}
	if (rc == 0)
		rc = branch_make(t, s, &cut, pos, &made->last);
	if (rc != 0) {
		free(made);
		return -1;
	}
	made->length = pos;
	sequence_insert(t, made);
	return 0;
}

/* The part of a pop that only releases pages. */
struct drop {
	int32_t block;      /* the block that remains last, or the shared one */
	int32_t n_left;     /* tokens to remove from it */
	int32_t n_released; /* pages of the blocks behind it */
	int32_t length;     /* the sequence's, up to the end of the block */
};

static struct drop drop_find(const struct msd_kv_table *t,
			     const struct msd_kv_sequence *s, int32_t n)
{
	struct drop d = {.block = s->last, .n_left = n, .length = s->length};
	const struct msd_kv_block *b = msd_kv_block_at(&t->blocks, d.block);

	while (b->refs == 1 && d.n_left > b->length && b->parent != MSD_KV_NO_BLOCK) {
		d.n_left -= b->length;
		d.length -= b->length;
		d.n_released += (int32_t)b->pages.n;
		d.block = b->parent;
		b = msd_kv_block_at(&t->blocks, d.block);
	}
	return d;
}

/* Release the blocks behind @d; nothing fails. */
static void drop_apply(struct msd_kv_table *t, struct msd_kv_sequence *s,
		       const struct drop *d)
{
	while (s->last != d->block) {
		struct msd_kv_block *b = msd_kv_block_at(&t->blocks, s->last);
		const int32_t parent = b->parent;

		pages_release(t, &b->pages, 0);
		msd_kv_blocks_release(&t->blocks, s->last);
		s->last = parent;
	}
	s->length = d->length;
}

/* Pop from a block that others use too: @s continues in a branch of its own, and is
 * then as new. */
static int pop_shared(struct msd_kv_table *t, struct msd_kv_sequence *s,
		      const struct drop *d)
{
	const int32_t at = d->length - d->n_left;
	const struct cut cut = cut_find(t, d->block, d->length, at);
	const int32_t sink =
		d->length - msd_kv_block_at(&t->blocks, d->block)->length + s->sink;
	int32_t branch;

	if (!msd_kv_blocks_reserve(&t->blocks, 2))
		return msd_abi_no_memory();
	if (cut_check(t, s, &cut, at, sink,
		      msd_kv_pages_free(&t->pages) + d->n_released) != 0)
		return -1;
	drop_apply(t, s, d);
	if (branch_make(t, s, &cut, at, &branch) != 0)
		return -1;
	chain_release(t, s->last);
	s->last = branch;
	s->length = at;
	s->window = MSD_KV_NO_WINDOW;
	s->sink = 0;
	msd_kv_forget_tree(s);
	return 0;
}

int msd_kv_pop(struct msd_kv_table *t, int64_t id, int64_t n)
{
	struct msd_kv_sequence *s = msd_kv_find(t, id);

	if (s == NULL)
		return -1;
	if (n < 0 || n > s->length) {
		return msd_abi_raise("ValueError",
				     "sequence %" PRId64 " has %d tokens: %" PRId64
				     " cannot be removed",
				     id, (int)s->length, n);
	}
	if (n == 0)
		return 0;
	const struct drop d = drop_find(t, s, (int32_t)n);
	struct msd_kv_block *b = msd_kv_block_at(&t->blocks, d.block);
	if (b->refs > 1)
		return pop_shared(t, s, &d);
	drop_apply(t, s, &d);
	b->length -= d.n_left;
	s->length -= d.n_left;
	const size_t n_pages =
		((size_t)b->length + (size_t)t->page_size - 1) / (size_t)t->page_size;
	while (b->pages.n > n_pages)
		msd_kv_pages_release(&t->pages, b->pages.v[--b->pages.n]);
	return 0;
}

int64_t msd_kv_total(const struct msd_kv_table *t)
{
	int64_t n = 0;

	for (int32_t i = 0; i < t->n; i++)
		n += t->v[i]->length;
	return n;
}

bool msd_kv_trace(const struct msd_kv_table *t, int32_t last, struct msd_ints *ret)
{
	const size_t from = ret->n;

	for (; last != MSD_KV_NO_BLOCK;
	     last = msd_kv_block_at(&t->blocks, last)->parent) {
		if (!msd_ints_push(ret, last))
			return false;
	}
	for (size_t i = from, j = ret->n; i + 1 < j; i++, j--) {
		const int32_t v = ret->v[i];

		ret->v[i] = ret->v[j - 1];
		ret->v[j - 1] = v;
	}
	return true;
}
