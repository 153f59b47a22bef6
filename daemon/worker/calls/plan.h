#ifndef MSD_WORKER_PLAN_H
#define MSD_WORKER_PLAN_H
/*
 * Cached result of parsing a call, for later equal calls: its function and its
 * argument values. A plan never becomes stale. Functions do not move while the
 * process has its module. Each call looks up again the objects that arguments name: a
 * place in a segment, a resident tensor, a device. The segment and offset of a tensor
 * may differ: they are read from the call's own bytes.
 */
#include "daemon/worker/worker.h"
#include "proto/value.h"

struct msd_plan {
	struct msd_func *func; /* borrowed */
	uint32_t n_args;
	struct msd_wire_value args[]; /* in the cached body */
};

/** Return argument @i of @r, which has a plan with more than @i arguments. */
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

/**
 * Cache the request of @in, a call of @func with positional arguments and no options,
 * if allowed: see msd_memory_add().
 */
void msd_plan_learn(struct msd_peer *peer, const struct msd_in *in,
		    struct msd_func *func);

#endif
