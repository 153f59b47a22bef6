#ifndef MSD_SUPERVISOR_REPLY_TEMPLATE_H
#define MSD_SUPERVISOR_REPLY_TEMPLATE_H
/*
 * Reply template: the parse result of a worker's answer, kept for the next equal
 * answer (proto/recognise.h). It stores where the tensors of the result are
 * described, and how many bytes each has. The worker names the place of those bytes
 * in every answer, and every answer is checked as if it were the first.
 */
#include "daemon/supervisor/module/workers/process.h"

struct msd_reply_template {
	uint32_t n_tensors;
	struct msd_answer_tensor {
		uint32_t at; /* offset of its ext data in the answer */
		uint64_t bytes;
	} tensors[];
};

/**
 * Remember @in of @p, which was read and forwarded without error, if possible: see
 * msd_memory_add(). None of its tensors may be in a client segment.
 */
void msd_reply_template_learn(struct msd_process *p, const struct msd_in *in);
/**
 * True if each tensor of @in, a known answer, has a place that may belong to the
 * worker.
 */
bool msd_reply_template_fits(const struct msd_in *in);
/** Parse @in, a known answer, as if it were unknown. */
void msd_reply_template_leave(struct msd_in *in);

#endif
