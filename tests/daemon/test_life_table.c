#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "daemon/supervisor/module/life/life_table.h"

Test(life_table, only_these_moves_are_legal)
{
	static const char *const legal[] = {
		"LOADING READY",       "LOADING FAILED",       "LOADING DRAINING",
		"LOADING TESTING",     "TESTING READY",        "TESTING FAILED",
		"TESTING DRAINING",    "READY RESTARTING",     "READY QUARANTINED",
		"READY DRAINING",      "RESTARTING READY",     "RESTARTING QUARANTINED",
		"RESTARTING DRAINING", "QUARANTINED DRAINING", "FAILED DRAINING",
		"READY ASLEEP",        "ASLEEP RESTARTING",    "ASLEEP DRAINING"};
	unsigned n = 0;

	for (int from = 0; from < MSD_STATE_COUNT; from++) {
		for (int to = 0; to < MSD_STATE_COUNT; to++) {
			char pair[64];
			bool is_legal = false;
			(void)snprintf(
				pair, sizeof(pair), "%s %s",
				msd_module_state_name((enum msd_module_state)from),
				msd_module_state_name((enum msd_module_state)to));
			for (size_t i = 0; i < sizeof(legal) / sizeof(legal[0]); i++)
				is_legal |= strcmp(pair, legal[i]) == 0;
			cr_expect_eq(msd_life_may_move((enum msd_module_state)from,
						       (enum msd_module_state)to),
				     is_legal, "%s", pair);
			n += is_legal ? 1 : 0;
		}
	}
	cr_expect_eq(n, sizeof(legal) / sizeof(legal[0]));
}
