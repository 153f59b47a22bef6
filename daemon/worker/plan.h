#ifndef MSD_WORKER_PLAN_H
#define MSD_WORKER_PLAN_H
/*
 * What reading a call finds out, kept for when the same call comes again: its function
 * and its arguments' values. Nothing in a plan grows old: functions stay where they are
 * while the process has its module, and what an argument names (a place in a segment, a
 * resident tensor, a device) is looked up anew by each call.
 */
#include "daemon/worker/worker.h"
#include "proto/value.h"

struct msd_plan {
	struct msd_func *func; /* borrowed */
	uint32_t n_args;
	struct msd_wire_value args[]; /* in the remembered body */
};

/** The request of @in, read as a call of @func by place and without options, is
 * remembered if it may be: see msd_memory_add(). */
void msd_plan_learn(struct msd_peer *peer, const struct msd_in *in,
		    struct msd_func *func);

#endif
