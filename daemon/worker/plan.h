#ifndef MSD_WORKER_PLAN_H
#define MSD_WORKER_PLAN_H
/*
 * What reading a call finds out, kept for when the same call comes again: its function
 * and its arguments' values. Nothing in a plan grows old: functions stay where they are
 * while the process has its module, and what an argument names (a place in a segment, a
 * resident tensor, a device) is looked up anew by each call. In which segment and where
 * in it a tensor is may be different each time: that is read from the call's own bytes.
 */
#include "daemon/worker/worker.h"
#include "proto/value.h"

struct msd_plan {
	struct msd_func *func; /* borrowed */
	uint32_t n_args;
	struct msd_wire_value args[]; /* in the remembered body */
};

/** Argument @i of @r, which has a plan with so many. */
static inline struct msd_wire_value msd_plan_arg(const struct msd_request *r,
						 uint32_t i)
{
	const struct msd_plan *plan = r->known->plan;
	struct msd_wire_value v = plan->args[i];

	if (r->known->n_places == 0)
		return v;
	if (v.kind == MSD_K_TENSOR)
		v.as.tensor.p = r->bytes + (v.as.tensor.p - r->known->bytes);
	if (v.kind == MSD_K_TUPLE && v.as.tuple.n > 0)
		v.as.tuple.items.p = r->bytes + (v.as.tuple.items.p - r->known->bytes);
	return v;
}

/** The request of @in, read as a call of @func by place and without options, is
 * remembered if it may be: see msd_memory_add(). */
void msd_plan_learn(struct msd_peer *peer, const struct msd_in *in,
		    struct msd_func *func);

#endif
