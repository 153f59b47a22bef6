#ifndef MSD_SUPERVISOR_INFER_RESULT_H
#define MSD_SUPERVISOR_INFER_RESULT_H
/* From a worker's answer to that of an `infer`. */
#include "daemon/supervisor/http/caller.h"

struct msd_infer_ask;
struct msd_infer_call;

/* What the answer is made with. */
struct msd_infer_wish {
	const struct msd_infer_ask *ask;
	const struct msd_infer_call *call;
	struct msd_span model; /* its name, as it was asked for */
};

/**
 * Answer the request of @c with the result in @o: its JSON is appended to the answer's
 * body, tensors that are to be binary become the caller's tail. Errors: the worker's;
 * MSD_BAD_REQUEST: an output that is asked for and not there, or that JSON cannot say;
 * MSD_UNSUPPORTED: a result that is no tensor; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_infer_result(struct msd_caller *c,
					const struct msd_infer_wish *w,
					const struct msd_out *o, struct msd_diag *d);

#endif
