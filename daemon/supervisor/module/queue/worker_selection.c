#include "daemon/supervisor/module/queue/worker_selection.h"

static bool can_take(const struct msd_worker_selection_worker *w)
{
	return msd_worker_selection_has_room(w->is_open, w->n_sent) && !w->is_stuck;
}

/* True if the worker would start one more request soon. */
static bool has_room(const struct msd_worker_selection_worker *w, uint32_t n)
{
	return can_take(w) && (n == 1 || w->n_sent == 0 || w->n_sent < w->n_joins ||
			       w->ahead_us < MSD_AHEAD_US);
}

uint32_t msd_choose_any(const struct msd_worker_selection_worker *workers, uint32_t n)
{
	uint32_t best = MSD_NOBODY;

	for (uint32_t i = 0; i < n; i++) {
		const struct msd_worker_selection_worker *w = &workers[i];
		if (!has_room(w, n) || (w->is_bound_turn && w->has_bound))
			continue;
		if (best == MSD_NOBODY || w->n_sent < workers[best].n_sent ||
		    (w->n_sent == workers[best].n_sent &&
		     w->n_bound < workers[best].n_bound))
			best = i;
	}
	return best;
}

uint32_t msd_choose_home(const struct msd_worker_selection_worker *workers, uint32_t n)
{
	uint32_t best = MSD_NOBODY;

	for (uint32_t i = 0; i < n; i++) {
		const struct msd_worker_selection_worker *w = &workers[i];
		if (!w->is_open || w->is_stuck)
			continue;
		if (best == MSD_NOBODY || w->n_bound < workers[best].n_bound ||
		    (w->n_bound == workers[best].n_bound &&
		     w->n_sent < workers[best].n_sent))
			best = i;
	}
	return best;
}

uint32_t msd_choose_bound(const struct msd_worker_selection_worker *workers, uint32_t n,
			  uint32_t from, bool has_shared)
{
	for (uint32_t i = from; i < n; i++) {
		if (workers[i].has_bound && can_take(&workers[i]) &&
		    (!has_shared || has_room(&workers[i], n)))
			return i;
	}
	return MSD_NOBODY;
}
