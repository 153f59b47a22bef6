#ifndef MSD_SUPERVISOR_MODULE_SELF_TEST_H
#define MSD_SUPERVISOR_MODULE_SELF_TEST_H
/*
 * Run a module's self-tests after its workers are open, before the first call of a
 * client. They are requests without a session, one after the other, to the first
 * worker. self_test_case.h compares the answers.
 */
#include "daemon/supervisor/module/life/module.h"

/**
 * Begin the tests. On a later iteration MSD_LIFE_TRIED follows, or the workers are
 * killed, with a cause.
 */
void msd_self_test_begin(struct msd_module *m);

#endif
