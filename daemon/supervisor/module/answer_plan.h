#ifndef MSD_SUPERVISOR_ANSWER_PLAN_H
#define MSD_SUPERVISOR_ANSWER_PLAN_H
/*
 * What reading a worker's answer finds out, kept for when it says the same again
 * (proto/recognise.h): where the tensors of its result are described, and how
 * many bytes each has. Where those bytes lie is the worker's word each time, and is
 * looked at each time as if it had never answered before.
 */
#include "daemon/supervisor/module/process.h"

struct msd_answer_plan {
	uint32_t n_tensors;
	struct msd_answer_tensor {
		uint32_t at; /* of its ext data in the answer */
		uint64_t bytes;
	} tensors[];
};

/** @in of @p, read and forwarded without error, is remembered if it may be: see
 * msd_memory_add(). None of its tensors is in a segment of a client's. */
void msd_answer_plan_learn(struct msd_process *p, const struct msd_in *in);
/** @in, which is known, says of each of its tensors a place that might be one of the
 * worker's. */
bool msd_answer_plan_fits(const struct msd_in *in);
/** Read @in, which is known, as if it were not. */
void msd_answer_plan_leave(struct msd_in *in);

#endif
