#ifndef MSD_SUPERVISOR_MODULE_TRIAL_PLAN_H
#define MSD_SUPERVISOR_MODULE_TRIAL_PLAN_H
/* The self-tests that a module has before it, and how far it is with them. */
#include "daemon/supervisor/module/trial_case.h"
#include "daemon/supervisor/request/deadline.h"

struct msd_module;

struct msd_trial {
	struct msd_module *m;
	struct msd_buf tests;
	uint32_t n, at;           /* of all rounds; the one that is run */
	uint32_t n_each;          /* of a round */
	struct msd_deadline next; /* what follows an answer, on a turn of its own */
	struct msd_deadline overdue;
	struct msd_trial_case now; /* borrows from tests */
	struct msd_diag why;       /* of the test that failed */
};

/** Of @m, with a copy of @tests, which msd_trial_check() has passed; @warmup rounds
 * come before the one that counts. False: no memory. *@ret is NULL when there are none.
 */
bool msd_trial_prepare(struct msd_module *m, struct msd_span tests, uint32_t warmup,
		       struct msd_trial **ret);
/** Forget it; NULL is fine. */
void msd_trial_free(struct msd_trial *t, struct msd_deadlines *deadlines);

#endif
