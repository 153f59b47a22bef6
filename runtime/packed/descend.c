/*
 * Quicksort with the median of three as the pivot down to runs of 16, then insertion
 * sort over everything. If it recurses too deeply, the rest is sorted by qsort().
 */
#include "runtime/packed/descend.h"

#include <stdbool.h>
#include <stdlib.h>

#define SMALL 16

static bool is_before(const struct msd_candidate *a, const struct msd_candidate *b)
{
	return a->p > b->p;
}

static void swap(struct msd_candidate *a, struct msd_candidate *b)
{
	const struct msd_candidate t = *a;

	*a = *b;
	*b = t;
}

static struct msd_candidate *median(struct msd_candidate *a, struct msd_candidate *b,
				    struct msd_candidate *c)
{
	if (is_before(a, b)) {
		if (is_before(b, c))
			return b;
		return is_before(a, c) ? c : a;
	}
	if (is_before(a, c))
		return a;
	return is_before(b, c) ? c : b;
}

/* Split @n elements, more than three: the result is the number of the first part. */
static size_t split(struct msd_candidate *v, size_t n)
{
	size_t low = 1;
	size_t high = n;

	swap(&v[0], median(&v[1], &v[n / 2], &v[n - 1]));
	for (;;) { /* the pivot and its two companions stop both walks */
		while (is_before(&v[low], &v[0]))
			low++;
		high--;
		while (is_before(&v[0], &v[high]))
			high--;
		if (low >= high)
			return low;
		swap(&v[low], &v[high]);
		low++;
	}
}

static int by_size(const void *a, const void *b)
{
	const struct msd_candidate *x = a;
	const struct msd_candidate *y = b;

	if (x->p != y->p)
		return x->p > y->p ? -1 : 1;
	return x->token < y->token ? -1 : 1;
}

/* Recursion is bounded by @depth. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void sort_roughly(struct msd_candidate *v, size_t n, unsigned depth)
{
	while (n > SMALL) {
		if (depth-- == 0) {
			qsort(v, n, sizeof(*v), by_size);
			return;
		}
		const size_t at = split(v, n);
		sort_roughly(v + at, n - at, depth);
		n = at;
	}
}

static void insert(struct msd_candidate *v, size_t i)
{
	const struct msd_candidate x = v[i];

	while (i > 0 && is_before(&x, &v[i - 1])) {
		v[i] = v[i - 1];
		i--;
	}
	v[i] = x;
}

void msd_descend(struct msd_candidate *v, size_t n)
{
	unsigned depth = 0;

	for (size_t left = n; left > 1; left /= 2)
		depth += 2;
	sort_roughly(v, n, depth);
	for (size_t i = 1; i < n; i++)
		insert(v, i);
}
