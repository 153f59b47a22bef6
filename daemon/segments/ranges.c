#include "daemon/segments/ranges.h"

#include <stddef.h>

static uint64_t end_of(const struct msd_range *r)
{
	return r->at + (r->bytes > 0 ? r->bytes : 1);
}

static bool overlaps(const struct msd_ranges *s, const struct msd_range *r)
{
	const struct msd_range *at = s->root;

	while (at != NULL) {
		if (end_of(r) <= at->at) {
			at = at->before;
		} else if (end_of(at) <= r->at) {
			at = at->after;
		} else {
			return true;
		}
	}
	return false;
}

/* Split @tree into the ranges that begin before @at and the rest. */
static void split(struct msd_range *tree, uint64_t at, struct msd_range **before,
		  struct msd_range **after)
{
	while (tree != NULL) {
		if (tree->at < at) {
			*before = tree;
			before = &tree->after;
			tree = tree->after;
		} else {
			*after = tree;
			after = &tree->before;
			tree = tree->before;
		}
	}
	*before = *after = NULL;
}

static struct msd_range *join(struct msd_range *before, struct msd_range *after)
{
	struct msd_range *tree = NULL;
	struct msd_range **at = &tree;

	while (before != NULL && after != NULL) {
		if (before->rank > after->rank) {
			*at = before;
			at = &before->after;
			before = before->after;
		} else {
			*at = after;
			at = &after->before;
			after = after->before;
		}
	}
	*at = before != NULL ? before : after;
	return tree;
}

bool msd_ranges_add(struct msd_ranges *s, struct msd_range *r, uint64_t chance)
{
	struct msd_range **at = &s->root;

	if (overlaps(s, r))
		return false;
	r->rank = chance;
	while (*at != NULL && (*at)->rank >= r->rank)
		at = r->at < (*at)->at ? &(*at)->before : &(*at)->after;
	split(*at, r->at, &r->before, &r->after);
	*at = r;
	return true;
}

void msd_ranges_remove(struct msd_ranges *s, const struct msd_range *r)
{
	struct msd_range **at = &s->root;

	while (*at != r)
		at = r->at < (*at)->at ? &(*at)->before : &(*at)->after;
	*at = join(r->before, r->after);
}
