#include "daemon/loop/account.h"

#include <stdlib.h>

void msd_account_open(struct msd_account *a, struct msd_account *parent,
		      uint64_t max_bytes)
{
	*a = (struct msd_account){.parent = parent, .max_bytes = max_bytes};
	if (parent != NULL)
		parent->n_children++;
}

void msd_account_close(struct msd_account *a)
{
	if (a->used_bytes > 0)
		abort(); /* internal error: the bytes would be given back later */
	msd_account_settle(a);
	if (a->parent != NULL)
		a->parent->n_children--;
}

void msd_account_move(struct msd_account *a, struct msd_account *parent)
{
	const uint64_t used = a->used_bytes;

	a->used_bytes = 0;
	msd_account_settle(a);
	a->parent->n_children--;
	a->parent = parent;
	parent->n_children++;
	a->used_bytes = used;
	msd_account_settle(a);
}

static uint64_t in_steps(uint64_t bytes)
{
	return (bytes + MSD_ACCOUNT_STEP_BYTES - 1) / MSD_ACCOUNT_STEP_BYTES *
	       MSD_ACCOUNT_STEP_BYTES;
}

void msd_account_settle(struct msd_account *a)
{
	bool gives_back = false;

	while (a->parent != NULL) {
		const uint64_t steps = in_steps(a->used_bytes);
		gives_back = gives_back || steps < a->passed_bytes;
		a->parent->used_bytes += steps;
		a->parent->used_bytes -= a->passed_bytes;
		a->passed_bytes = steps;
		a = a->parent;
		if (a->most_bytes < a->used_bytes)
			a->most_bytes = a->used_bytes;
	}
	if (gives_back && a->on_room != NULL)
		a->on_room(a);
}

void msd_account_weigh(void *ctx, int64_t bytes)
{
	struct msd_account *a = ctx;

	if (bytes >= 0) {
		msd_account_charge(a, (uint64_t)bytes);
	} else {
		msd_account_release(a, (uint64_t)-bytes);
	}
}

uint64_t msd_account_share(const struct msd_account *a)
{
	const struct msd_account *up = a->parent;

	if (up == NULL)
		return UINT64_MAX;
	const uint64_t above = msd_account_limit(up);
	if (up->used_bytes <= above)
		return UINT64_MAX;
	const uint64_t share = above / up->n_children;
	return share > MSD_ACCOUNT_LEAST_BYTES ? share : MSD_ACCOUNT_LEAST_BYTES;
}

uint64_t msd_account_limit(const struct msd_account *a)
{
	const uint64_t share = msd_account_share(a);

	return share < a->max_bytes ? share : a->max_bytes;
}
