#include "runtime/kv/window.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/value/error.h"

int msd_kv_window_enable(struct msd_kv_table *t, int64_t id, int64_t size, int64_t sink)
{
	struct msd_kv_sequence *s = msd_kv_find(t, id);

	if (s == NULL)
		return -1;
	if (size <= 0 || size > INT32_MAX || sink < 0 || sink >= size) {
		return msd_abi_raise("ValueError",
				     "sequence %" PRId64 ": a window of %" PRId64
				     " tokens, %" PRId64 " of which stay",
				     id, size, sink);
	}
	if (s->window != MSD_KV_NO_WINDOW) {
		return msd_abi_raise("ValueError",
				     "sequence %" PRId64 " has a window already", id);
	}
	/* The blocks before the last one cannot slide: they are part of the sink. */
	const int32_t before = s->length - msd_kv_block_at(&t->blocks, s->last)->length;
	s->sink = sink > before ? (int32_t)sink - before : 0;
	s->window = (int32_t)size;
	return 0;
}

static int64_t pages_of(const struct msd_kv_table *t, int64_t n)
{
	return (n + t->page_size - 1) / t->page_size;
}

/* Slide the window of @s over @n tokens of @g. */
static int slide(const struct msd_kv_table *t, const struct msd_kv_sequence *s,
		 int32_t n, int64_t n_pages, struct msd_kv_growth *g)
{
	if (s->sink > 0 && g->sink == 0) {
		g->sink = s->sink;
		g->offset = s->sink;
	}
	const int64_t first = pages_of(t, g->sink);
	const int64_t page = ((int64_t)g->offset + n) / t->page_size;
	const int64_t n_old = page > first ? page - first : 0;
	g->first = (int32_t)first;
	g->n_old = (int32_t)n_old;
	g->offset = (int32_t)((page - n_old) * t->page_size +
			      ((int64_t)g->offset + n) % t->page_size);
	g->length -= n;
	g->total = s->window;
	if (g->length < g->sink || first + n_old > n_pages ||
	    pages_of(t, (int64_t)g->offset + g->length - g->sink) != n_pages - n_old) {
		return msd_abi_raise(
			"ValueError",
			"sequence %" PRId64
			": the window of %d tokens does not fit its blocks",
			s->id, (int)s->window);
	}
	return 0;
}

int msd_kv_growth_plan(const struct msd_kv_table *t, const struct msd_kv_sequence *s,
		       int64_t n, int64_t n_free, struct msd_kv_growth *ret)
{
	const struct msd_kv_block *b = msd_kv_block_at(&t->blocks, s->last);
	const int64_t have = (int64_t)b->pages.n;
	const int64_t total = (int64_t)s->length + n;
	const int64_t want = pages_of(t, (int64_t)b->length - b->sink + b->offset + n);
	const int64_t n_new = want > have ? want - have : 0;
	const bool slides = t->slides && s->window != MSD_KV_NO_WINDOW;

	if (total > INT32_MAX || n_new > INT32_MAX) {
		return msd_abi_raise("ValueError", "sequence %" PRId64 " is too long",
				     s->id);
	}
	*ret = (struct msd_kv_growth){.n_new = (int32_t)n_new,
				      .length = (int32_t)(b->length + n),
				      .offset = b->offset,
				      .sink = b->sink,
				      .total = (int32_t)total};
	if (slides && total > s->window &&
	    slide(t, s, (int32_t)(total - s->window), have + n_new, ret) != 0)
		return -1;
	if (n_new - ret->n_old > n_free) {
		return msd_abi_raise("ValueError",
				     "sequence %" PRId64 ": %" PRId64
				     " more tokens need %" PRId64
				     " pages, the cache has %" PRId64 " free",
				     s->id, n, n_new - ret->n_old, n_free);
	}
	return 0;
}

bool msd_kv_growth_apply(struct msd_kv_table *t, struct msd_kv_sequence *s,
			 const struct msd_kv_growth *g)
{
	struct msd_kv_block *b = msd_kv_block_at(&t->blocks, s->last);
	struct msd_ints *pages = &b->pages;

	if (!msd_ints_reserve(pages, (size_t)g->n_new))
		return false;
	/* Without a free page the place stays empty until the window has released one.
	 */
	for (int32_t i = 0; i < g->n_new; i++)
		pages->v[pages->n++] = msd_kv_pages_take(&t->pages);
	for (int32_t i = g->first; i < g->first + g->n_old; i++) {
		if (pages->v[i] != MSD_KV_NO_PAGE)
			msd_kv_pages_release(&t->pages, pages->v[i]);
	}
	if (g->n_old > 0) {
		pages->n -= (size_t)g->n_old;
		memmove(&pages->v[g->first], &pages->v[g->first + g->n_old],
			(pages->n - (size_t)g->first) * sizeof(*pages->v));
	}
	for (size_t i = 0; i < pages->n; i++) {
		if (pages->v[i] == MSD_KV_NO_PAGE)
			pages->v[i] = msd_kv_pages_take(&t->pages);
	}
	b->length = g->length;
	b->offset = g->offset;
	b->sink = g->sink;
	s->length = g->total;
	return true;
}
