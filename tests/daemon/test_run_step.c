#include <criterion/criterion.h>

#include "daemon/supervisor/module/workers/run_limit.h"

#define GRACE 1000u
#define MOST 600000u

struct row {
	const char *what;
	struct msd_run_facts run;
	uint64_t most_ms;
	enum msd_run_end end;
	uint64_t again_ms; /* of one that goes on */
};

#define LEFT(ran, since, usual, others)                                                \
	{                                                                              \
		.ran_ms = (ran), .left_ms = (since), .usual_ms = (usual),              \
		.is_left = true, .keeps_others = (others)                              \
	}
#define OVER(ran, since)                                                               \
	{                                                                              \
		.ran_ms = (ran), .left_ms = (since), .is_left = true, .is_over = true  \
	}
#define GOES_ON MSD_RUN_GOES_ON

static const struct row rows[] = {
	{"it has just begun", {.ran_ms = 0}, MOST, GOES_ON, MSD_RUN_LOOK_MOST_MS},
	{"a moment is left", {.ran_ms = MOST - 7}, MOST, GOES_ON, 7},
	{"it has run for as long as any may",
	 {.ran_ms = MOST},
	 MOST,
	 MSD_RUN_TOO_LONG,
	 0},
	{"nothing is too long",
	 {.ran_ms = UINT64_MAX},
	 0,
	 GOES_ON,
	 MSD_RUN_LOOK_MOST_MS},
	{"it is left, within the grace", LEFT(5000, 300, 0, true), MOST, GOES_ON, 700},
	{"others wait behind it", LEFT(5000, GRACE, 0, true), MOST, MSD_RUN_IN_WAY, 0},
	{"nobody waits behind it", LEFT(5000, GRACE, 0, false), MOST, GOES_ON,
	 MSD_RUN_LOOK_MS},
	{"such calls take so long", LEFT(5000, GRACE, 3000, true), MOST, GOES_ON, 2000},
	{"twice that is over", LEFT(7000, GRACE, 3000, true), MOST, MSD_RUN_IN_WAY, 0},
	{"it was left before its turn", LEFT(1, 9000, 0, true), MOST, GOES_ON,
	 GRACE - 1},
	{"it is left and too long", LEFT(MOST, 0, 0, false), MOST, MSD_RUN_TOO_LONG, 0},
	{"it is late, within the grace", OVER(5000, 999), MOST, GOES_ON, 1},
	{"it is late", OVER(5000, GRACE), MOST, MSD_RUN_OVERDUE, 0},
	{"it was late before its turn", OVER(400, 9000), MOST, GOES_ON, 600},
	{"its turn was long enough", OVER(GRACE, 9000), MOST, MSD_RUN_OVERDUE, 0},
};

Test(run_step, each_row_ends_as_the_table_says)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct msd_run_terms terms = {.most_ms = rows[i].most_ms,
						    .grace_ms = GRACE};
		uint64_t again_ms = 0;
		const enum msd_run_end end =
			msd_run_judge(&rows[i].run, &terms, &again_ms);

		cr_expect_eq(end, rows[i].end, "%s: %d", rows[i].what, (int)end);
		cr_expect_eq(again_ms, rows[i].again_ms, "%s: again in %llu",
			     rows[i].what, (unsigned long long)again_ms);
	}
}

Test(run_step, who_asks_again_is_never_told_to_do_so_at_once)
{
	const struct msd_run_terms terms = {.most_ms = 5, .grace_ms = 3};

	for (uint64_t ran_ms = 0; ran_ms < 10; ran_ms++) {
		for (uint64_t left_ms = 0; left_ms <= ran_ms; left_ms++) {
			const struct msd_run_facts run =
				LEFT(ran_ms, left_ms, 1, false);
			uint64_t again_ms = 0;
			if (msd_run_judge(&run, &terms, &again_ms) == MSD_RUN_GOES_ON)
				cr_expect_gt(again_ms, 0);
		}
	}
}
