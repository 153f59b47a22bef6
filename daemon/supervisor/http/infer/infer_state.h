#ifndef MSD_SUPERVISOR_INFER_STATE_H
#define MSD_SUPERVISOR_INFER_STATE_H
/*
 * The state of one `infer`, shared by its request side (infer.c) and its reply side
 * (infer_answer.c).
 *
 *   reading (a background job if the text is long) --> waiting for room
 *   --> its inputs are copied (in steps if they are large), or arrive --> called
 *   --> writing (a background job if tensors are written as JSON)
 *   --> answered, and written --> end
 */
#include "daemon/loop/task.h"
#include "daemon/loop/work.h"
#include "daemon/supervisor/http/infer/infer_inputs.h"
#include "daemon/supervisor/http/infer/infer_make.h"
#include "daemon/supervisor/http/infer/infer_result.h"

struct msd_http_exchange;
struct msd_http_session;
struct msd_put_off;
struct msd_session;

struct msd_infer {
	struct msd_http_session *caller;
	struct msd_work chore; /* for reading, then for writing */
	struct msd_infer_ask ask;
	struct msd_infer_call call;
	struct msd_buf model;       /* its name, as requested */
	uint64_t rights_generation; /* the rights file's, at the authorization */
	/* Its JSON and, if chunked, the data after it; owned by the reader. Otherwise
	 * that data is still arriving. */
	struct msd_span text, behind;
	uint64_t behind_bytes;    /* size of that data */
	bool is_taking;           /* it has room, and inputs are arriving */
	struct msd_task putting;  /* copies inputs that have arrived to its room */
	struct msd_infer_put put; /* how far it is */
	struct msd_out *out;      /* source of the reply; owned */
	struct msd_infer_answer answer;
	/* The call's deferred accounting, while a thread writes its reply; owned. */
	struct msd_put_off *put_off;
	msd_err err; /* error of the background job */
	struct msd_diag why;
};

/** Answer with the error @d, which is freed and counted. */
void msd_infer_fail(struct msd_http_exchange *a, unsigned status, struct msd_diag *d);
/** It has all its room and inputs, or is answered without them. */
void msd_infer_stop_waiting(struct msd_http_session *c);

#endif
