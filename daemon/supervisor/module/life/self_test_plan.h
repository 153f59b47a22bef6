#ifndef MSD_SUPERVISOR_MODULE_SELF_TEST_PLAN_H
#define MSD_SUPERVISOR_MODULE_SELF_TEST_PLAN_H
/* The self-tests of a module, and its progress with them. */
#include "daemon/supervisor/module/life/self_test_case.h"
#include "daemon/supervisor/request/deadline.h"

struct msd_module;

struct msd_self_test {
	struct msd_module *m;
	struct msd_buf tests;
	uint32_t n, at;           /* tests of all rounds; index of the running one */
	uint32_t n_each;          /* tests of a round */
	struct msd_deadline next; /* the step after an answer, later */
	struct msd_deadline overdue;
	struct msd_self_test_case now; /* borrows from tests */
	struct msd_diag why;           /* error of the failed test */
};

/**
 * Prepare the tests of @m with a copy of @tests, which msd_self_test_check() has
 * accepted; @warmup rounds run before the one that counts. *@ret is NULL without
 * tests. False: out of memory.
 */
bool msd_self_test_prepare(struct msd_module *m, struct msd_span tests, uint32_t warmup,
			   struct msd_self_test **ret);
/** Free the tests; NULL is fine. */
void msd_self_test_free(struct msd_self_test *t, struct msd_deadlines *deadlines);

#endif
