#include "daemon/supervisor/module/life/self_test_plan.h"

#include <stdlib.h>

bool msd_self_test_prepare(struct msd_module *m, struct msd_span tests, uint32_t warmup,
			   struct msd_self_test **ret)
{
	struct msd_self_test *t;
	struct msd_cur c;
	uint32_t n;

	*ret = NULL;
	if (tests.n == 0 || !msd_array_open(tests, &c, &n) || n == 0)
		return true;
	t = calloc(1, sizeof(*t));
	if (t == NULL)
		return false;
	*ret = t;
	t->m = m;
	t->n_each = n;
	t->n = n * (1 + warmup);
	msd_buf_put(&t->tests, tests.p, tests.n);
	return !t->tests.bad;
}

void msd_self_test_free(struct msd_self_test *t, struct msd_deadlines *deadlines)
{
	if (t == NULL)
		return;
	msd_deadline_clear(deadlines, &t->next);
	msd_deadline_clear(deadlines, &t->overdue);
	msd_buf_finish(&t->tests);
	msd_diag_finish(&t->why);
	free(t);
}
