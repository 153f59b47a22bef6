#include "daemon/worker/calls/plan.h"

#include <stdlib.h>

/* Calls with more arguments are rare, and run much longer than they take to parse. */
#define MAX_ARGS 16u

/* Make the plan of a call with @params, whose first element is the target. NULL: no
 * plan is made. */
static struct msd_plan *make(struct msd_span params, struct msd_func *func,
			     size_t *ret_bytes)
{
	struct msd_cur c;
	uint32_t n;
	struct msd_span target;

	if (!msd_array_open(params, &c, &n) || n == 0 || n - 1 > MAX_ARGS ||
	    !msd_object_parse(&c, &target))
		return NULL;
	*ret_bytes = sizeof(struct msd_plan) + (n - 1) * sizeof(struct msd_wire_value);
	struct msd_plan *plan = malloc(*ret_bytes);
	if (plan == NULL)
		return NULL;
	*plan = (struct msd_plan){.func = func, .n_args = n - 1};
	for (uint32_t i = 0; i < plan->n_args; i++) {
		if (msd_value_read(&c, &plan->args[i], NULL) != MSD_OK) {
			free(plan);
			return NULL;
		}
	}
	return plan;
}

void msd_plan_learn(struct msd_peer *peer, const struct msd_in *in,
		    struct msd_func *func)
{
	if (peer->conn.limits.memory == NULL)
		return;
	struct msd_known *known =
		msd_memory_add(&peer->memory, (struct msd_span){in->bytes, in->n_bytes},
			       in->payload_bytes, &in->body);
	if (known == NULL)
		return;
	size_t n;
	struct msd_plan *plan = make(known->body.params, func, &n);
	if (plan != NULL) {
		msd_memory_give(&peer->memory, known, plan, n);
	} else {
		msd_memory_drop(&peer->memory, known);
	}
}
