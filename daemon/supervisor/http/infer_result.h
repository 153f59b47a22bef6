#ifndef MSD_SUPERVISOR_INFER_RESULT_H
#define MSD_SUPERVISOR_INFER_RESULT_H
/* From a worker's answer to that of an `infer`. */
#include "proto/bytes.h"
#include "proto/diag.h"

struct iovec;
struct msd_infer_ask;
struct msd_infer_call;
struct msd_out;

/* What the answer is made with. */
struct msd_infer_wish {
	const struct msd_infer_ask *ask;
	const struct msd_infer_call *call;
	struct msd_span model; /* its name, as it was asked for */
};

/* An answer. */
struct msd_infer_answer {
	struct msd_buf text;
	/* Instead of it, where it was kept, and the head in front of it; then the tail
	 * is infer_told.h's, too. */
	struct msd_span known_text, known_head;
	struct iovec *tail; /* tensors as bytes, where they lie; else owned */
	uint32_t n_tail;
	uint64_t tail_bytes;
	bool has_tensors;
};

/** Are there tensors that may become JSON? */
bool msd_infer_wish_has_json(const struct msd_infer_wish *w);
/** May there be so much to write that it takes long? */
bool msd_infer_result_is_large(const struct msd_infer_wish *w, const struct msd_out *o);
/**
 * The answer with the result in @o. Any thread may make it, while @w and @o stay as
 * they are. Errors: the worker's; MSD_BAD_REQUEST: an output that is asked for and not
 * there, or that JSON cannot say; MSD_UNSUPPORTED: a result that is no tensor;
 * MSD_NOMEM. finish is wanted after them, too.
 */
MSD_MUST_CHECK msd_err msd_infer_result(const struct msd_infer_wish *w,
					const struct msd_out *o,
					struct msd_infer_answer *ret,
					struct msd_diag *d);
void msd_infer_answer_finish(struct msd_infer_answer *a);

#endif
