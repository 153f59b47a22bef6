#ifndef MSD_SUPERVISOR_INFER_RESULT_H
#define MSD_SUPERVISOR_INFER_RESULT_H
/* Convert a worker's response to the reply of an `infer`. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

struct iovec;
struct msd_infer_ask;
struct msd_infer_call;
struct msd_out;

/* The options of the reply. */
struct msd_infer_wish {
	const struct msd_infer_ask *ask;
	const struct msd_infer_call *call;
	struct msd_span model; /* its name, as requested */
	uint64_t max_json;     /* bytes of the reply's text */
};

/* A reply. */
struct msd_infer_answer {
	struct msd_buf text;
	struct iovec *tail; /* binary tensors, in place; owned */
	uint32_t n_tail;
	uint64_t tail_bytes;
	bool has_tensors;
};

/** True if there may be tensors to convert to JSON. */
bool msd_infer_wish_has_json(const struct msd_infer_wish *w);
/** True if writing the reply may take long. */
bool msd_infer_result_is_large(const struct msd_infer_wish *w, const struct msd_out *o);
/**
 * Create the reply with the result in @o. May run on any thread; @w and @o must not
 * change. Errors: the worker's; MSD_BAD_REQUEST (a requested output does not exist,
 * or JSON cannot represent it); MSD_UNSUPPORTED (a result is not a tensor);
 * MSD_NOMEM. Call finish after errors, too.
 */
MSD_MUST_CHECK msd_err msd_infer_result(const struct msd_infer_wish *w,
					const struct msd_out *o,
					struct msd_infer_answer *ret,
					struct msd_diag *d);
void msd_infer_answer_finish(struct msd_infer_answer *a);

#endif
