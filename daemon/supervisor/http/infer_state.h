#ifndef MSD_SUPERVISOR_INFER_STATE_H
#define MSD_SUPERVISOR_INFER_STATE_H
/*
 * One `infer` on its way, between what asks (infer.c) and what answers
 * (infer_answer.c).
 *
 *   reading (a chore, where the text is long) --> waiting for room --> its inputs come
 *   (where they are bytes) --> called --> writing (a chore, where tensors are to be
 *   JSON) --> answered, and written --> end
 */
#include "daemon/supervisor/http/infer_make.h"
#include "daemon/supervisor/http/infer_result.h"
#include "daemon/supervisor/request/chore.h"
#include "proto/recognise.h"

struct msd_asking;
struct msd_caller;
struct msd_put_off;
struct msd_session;

struct msd_infer {
	struct msd_caller *caller;
	struct msd_chore chore; /* of reading, then of writing */
	struct msd_infer_ask ask;
	struct msd_infer_call call;
	struct msd_buf model;       /* its name, as it was asked for */
	struct msd_buf known;       /* its text, while it is a call that was made */
	uint64_t generation;        /* of the house, when it was */
	uint64_t rights_generation; /* by which it may be made */
	struct msd_in in;           /* the call, as of a frame */
	/* Its JSON and, of chunks, what follows it; the reader's. Else that is still to
	 * come. */
	struct msd_span text, behind;
	uint64_t behind_bytes; /* how many those are */
	bool is_taking;        /* it has room, and they come */
	struct msd_out *out;   /* what the answer is made of; owned */
	struct msd_infer_answer answer;
	struct msd_memory told; /* answers to the same call before */
	/* The call's count, while a thread makes its answer; owned. */
	struct msd_put_off *put_off;
	msd_err err; /* of the chore, and why */
	struct msd_diag why;
};

/** Answer with what is wrong, which is finished and counted among the errors. */
void msd_infer_fail(struct msd_asking *a, unsigned status, struct msd_diag *d);
/** It has its room and all its inputs, or is answered without. */
void msd_infer_stop_waiting(struct msd_caller *c);

#endif
