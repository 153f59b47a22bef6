#include <criterion/criterion.h>

#include "daemon/supervisor/module/queue/worker_selection.h"

/* Open workers with so many requests each. */
static void open_with(struct msd_worker_selection_worker *workers,
		      const uint32_t *n_sent, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		workers[i] = (struct msd_worker_selection_worker){.is_open = true,
								  .n_sent = n_sent[i]};
	}
}

Test(choice, the_worker_with_the_fewest_requests_gets_the_next)
{
	struct msd_worker_selection_worker w[3];

	open_with(w, (uint32_t[]){2, 1, 3}, 3);
	cr_expect_eq(msd_choose_any(w, 3), 1);
}

Test(choice, of_equals_the_first_and_the_least_bound)
{
	struct msd_worker_selection_worker w[3];

	open_with(w, (uint32_t[]){0, 0, 0}, 3);
	cr_expect_eq(msd_choose_any(w, 3), 0);
	w[0].n_bound = 1;
	cr_expect_eq(msd_choose_any(w, 3), 1);
}

Test(choice, nobody_gets_more_than_it_may_have_at_a_time)
{
	struct msd_worker_selection_worker w[1];

	open_with(w, (uint32_t[]){MSD_SEND_AHEAD - 1}, 1);
	cr_expect_eq(msd_choose_any(w, 1), 0);
	w[0].n_sent++;
	cr_expect_eq(msd_choose_any(w, 1), MSD_NOBODY);
}

Test(choice, nothing_waits_behind_what_may_take_long)
{
	struct msd_worker_selection_worker w[2];

	open_with(w, (uint32_t[]){1, 2}, 2);
	w[0].ahead_us = 1000;
	w[1].ahead_us = 999;
	cr_expect_eq(msd_choose_any(w, 2), 1);
	w[1].ahead_us = 1000;
	cr_expect_eq(msd_choose_any(w, 2), MSD_NOBODY);
	cr_expect_eq(msd_choose_any(w, 1), 0, "a lone worker has no better one");
	w[0].n_sent = 0;
	cr_expect_eq(msd_choose_any(w, 2), 0, "it has nothing to do");
}

Test(choice, who_joins_calls_gets_as_many_as_it_may_join)
{
	struct msd_worker_selection_worker w[2];

	open_with(w, (uint32_t[]){3, 4}, 2);
	for (unsigned i = 0; i < 2; i++) {
		w[i].n_joins = 4;
		w[i].ahead_us = 1000000;
	}
	cr_expect_eq(msd_choose_any(w, 2), 0);
	w[0].n_sent = 4;
	cr_expect_eq(msd_choose_any(w, 2), MSD_NOBODY);
}

Test(choice, who_is_closed_or_stuck_gets_nothing)
{
	struct msd_worker_selection_worker w[2];

	open_with(w, (uint32_t[]){0, 0}, 2);
	w[0].is_open = false;
	w[1].is_stuck = true;
	w[0].has_bound = w[1].has_bound = true;
	cr_expect_eq(msd_choose_any(w, 2), MSD_NOBODY);
	cr_expect_eq(msd_choose_home(w, 2), MSD_NOBODY);
	cr_expect_eq(msd_choose_bound(w, 2, 0, false), MSD_NOBODY);
}

Test(choice, a_home_is_where_the_fewest_hold_objects)
{
	struct msd_worker_selection_worker w[3];

	open_with(w, (uint32_t[]){0, 5, 2}, 3);
	w[0].n_bound = 2;
	w[1].n_bound = w[2].n_bound = 1;
	cr_expect_eq(msd_choose_home(w, 3), 2);
}

Test(choice, a_worker_takes_turns_between_its_own_and_the_shared)
{
	struct msd_worker_selection_worker w[1];

	open_with(w, (uint32_t[]){0}, 1);
	w[0].has_bound = true;
	cr_expect_eq(msd_choose_any(w, 1), 0);
	w[0].is_bound_turn = true;
	cr_expect_eq(msd_choose_any(w, 1), MSD_NOBODY);
	cr_expect_eq(msd_choose_bound(w, 1, 0, true), 0);
	w[0].has_bound = false;
	cr_expect_eq(msd_choose_any(w, 1), 0, "it has none of its own");
}

Test(choice, its_own_may_wait_behind_a_long_one_when_nothing_shared_does)
{
	struct msd_worker_selection_worker w[2];

	open_with(w, (uint32_t[]){1, 0}, 2);
	w[0].has_bound = true;
	w[0].ahead_us = 1000000;
	cr_expect_eq(msd_choose_bound(w, 2, 0, false), 0);
	cr_expect_eq(msd_choose_bound(w, 2, 0, true), MSD_NOBODY);
	cr_expect_eq(msd_choose_bound(w, 2, 1, false), MSD_NOBODY);
}
