/* Sorting as in TVM's functions: stable, by value, items carry their index. A heap
 * finds the k best items. */
#include "runtime/packed/order.h"

#include <string.h>

#define CHUNK ((size_t)7) /* size of insertion-sorted chunks */

static bool before(struct msd_order o, const struct msd_item *a,
		   const struct msd_item *b)
{
	if (o.by_index && (o.is_float ? a->v.f == b->v.f : a->v.i == b->v.i))
		return a->index < b->index;
	return o.is_float ? a->v.f < b->v.f : a->v.i < b->v.i;
}

union msd_number msd_number_negate(struct msd_order o, union msd_number v)
{
	return o.is_float ? (union msd_number){.f = -v.f}
			  : (union msd_number){.i = ~v.i};
}

static void insertion_sort(struct msd_order o, struct msd_item *items, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const struct msd_item item = items[i];
		size_t to = i;

		if (before(o, &item, &items[0])) {
			memmove(items + 1, items, i * sizeof(*items));
			to = 0;
		} else { /* items[0] stops the scan: it was compared */
			for (; before(o, &item, &items[to - 1]); to--)
				items[to] = items[to - 1];
		}
		items[to] = item;
	}
}

/* Merge two adjacent runs of @n and @m items into @to. */
static void merge(struct msd_order o, const struct msd_item *items, size_t n, size_t m,
		  struct msd_item *to)
{
	const struct msd_item *right = items + n;

	while (n > 0 && m > 0) {
		if (before(o, right, items)) {
			*to++ = *right++;
			m--;
		} else {
			*to++ = *items++;
			n--;
		}
	}
	memcpy(to, items, n * sizeof(*to));
	memcpy(to + n, right, m * sizeof(*to));
}

static void merge_runs(struct msd_order o, const struct msd_item *from, size_t n,
		       size_t run, struct msd_item *to)
{
	while (n >= 2 * run) {
		merge(o, from, run, run, to);
		from += 2 * run;
		to += 2 * run;
		n -= 2 * run;
	}
	if (run > n)
		run = n;
	merge(o, from, run, n - run, to);
}

static void merge_sort(struct msd_order o, struct msd_item *items, size_t n,
		       struct msd_item *scratch)
{
	for (size_t i = 0; i < n; i += CHUNK)
		insertion_sort(o, items + i, n - i < CHUNK ? n - i : CHUNK);
	for (size_t run = CHUNK; run < n; run *= 4) {
		merge_runs(o, items, n, run, scratch);
		merge_runs(o, scratch, n, 2 * run, items);
	}
}

/* Copy the left half, @n items, to scratch and merge from the front. */
static void join_forward(struct msd_order o, struct msd_item *items, size_t n, size_t m,
			 struct msd_item *scratch)
{
	const struct msd_item *right = items + n;
	struct msd_item *to = items;

	memcpy(scratch, items, n * sizeof(*items));
	while (n > 0 && m > 0) {
		if (before(o, right, scratch)) {
			*to++ = *right++;
			m--;
		} else {
			*to++ = *scratch++;
			n--;
		}
	}
	memcpy(to, scratch, n * sizeof(*to));
}

/* Copy the right half, @m items, to scratch and merge from the back. */
static void join_backward(struct msd_order o, struct msd_item *items, size_t n,
			  size_t m, struct msd_item *scratch)
{
	struct msd_item *to = items + n + m;

	memcpy(scratch, items + n, m * sizeof(*items));
	while (n > 0 && m > 0) {
		if (before(o, &scratch[m - 1], &items[n - 1])) {
			*--to = items[--n];
		} else {
			*--to = scratch[--m];
		}
	}
	memcpy(to - m, scratch, m * sizeof(*to));
}

void msd_items_sort(struct msd_order o, struct msd_item *items, size_t n,
		    struct msd_item *scratch)
{
	const size_t left = (n + 1) / 2;
	const size_t right = n - left;

	merge_sort(o, items, left, scratch);
	merge_sort(o, items + left, right, scratch);
	if (left <= right) {
		join_forward(o, items, left, right, scratch);
	} else {
		join_backward(o, items, left, right, scratch);
	}
}

static void sift_up(struct msd_top *t, size_t hole, size_t top, struct msd_item item)
{
	while (hole > top) {
		const size_t parent = (hole - 1) / 2;

		if (!before(t->order, &t->items[parent], &item))
			break;
		t->items[hole] = t->items[parent];
		hole = parent;
	}
	t->items[hole] = item;
}

/* Fill @hole from below down to a leaf, then sift @item up from there. */
static void sift(struct msd_top *t, size_t hole, size_t n, struct msd_item item)
{
	const size_t top = hole;

	while (2 * hole + 2 < n) {
		size_t child = 2 * hole + 2;

		if (before(t->order, &t->items[child], &t->items[child - 1]))
			child--;
		t->items[hole] = t->items[child];
		hole = child;
	}
	if (2 * hole + 2 == n) { /* last node has only a left child */
		t->items[hole] = t->items[n - 1];
		hole = n - 1;
	}
	sift_up(t, hole, top, item);
}

void msd_top_start(struct msd_top *t)
{
	for (size_t i = t->n / 2; i-- > 0;)
		sift(t, i, t->n, t->items[i]);
}

void msd_top_offer(struct msd_top *t, struct msd_item item)
{
	if (t->n == 0 || !before(t->order, &item, &t->items[0]))
		return;
	sift_up(t, t->n, 0, item);
	sift(t, 0, t->n, t->items[t->n]);
}
