#include "runtime/plan/timed.h"

#include <stdlib.h>

#include "graph/ir/graph.h"
#include "proto/base/clock.h"
#include "runtime/plan/clock.h"
#include "runtime/plan/describe.h"
#include "runtime/plan/flow.h"
#include "runtime/plan/parts.h"

/* Plans of graphs within nodes share the clock. */
static void set(struct msd_plan *p, struct msd_clock *c)
{
	p->times.clock = c;
	for (size_t i = 0; i < p->g->n_nodes; i++) {
		for (size_t k = 0; p->flows[i] != NULL && k < MSD_FLOW_GRAPHS; k++) {
			if (p->flows[i]->graphs[k].plan != NULL)
				set(p->flows[i]->graphs[k].plan, c);
		}
	}
}

msd_err msd_plan_clock_start(struct msd_plan *plan, struct msd_diag *d)
{
	const size_t n = msd_plan_row_count(plan);
	struct msd_clock *c = calloc(1, sizeof(*c) + n * sizeof(*c->rows));

	if (c == NULL)
		return msd_diag_no_memory(d);
	c->n = n;
	free(msd_plan_clock_stop(plan));
	set(plan, c);
	c->start_ns = msd_now_ns();
	return MSD_OK;
}

struct msd_clock *msd_plan_clock_stop(struct msd_plan *plan)
{
	struct msd_clock *c = plan->times.clock;

	set(plan, NULL);
	return c;
}
