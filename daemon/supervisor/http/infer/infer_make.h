#ifndef MSD_SUPERVISOR_INFER_MAKE_H
#define MSD_SUPERVISOR_INFER_MAKE_H
/*
 * Convert an `infer` request to the parameters of a call, as a client of the frame
 * protocol would write them, with its inputs as inline tensors of a payload.
 */
#include "daemon/http/infer_ask.h"
#include "daemon/supervisor/http/models/model.h"

struct iovec;
struct msd_limits;

/* The position of an input's bytes in the payload. */
struct msd_infer_place {
	const struct msd_infer_input *input; /* NULL: it has no bytes there */
	bool is_used;
	uint64_t offset;
};

struct msd_infer_call {
	struct msd_buf params; /* as in the frame protocol */
	/* Names of the outputs that the function fills, then of the results that the
	 * model declares: u32 length and the name, in order. */
	struct msd_buf out_names;
	uint32_t n_returned;            /* number of results among them */
	struct msd_infer_place *places; /* owned; one for each input, in order */
	struct iovec *pieces; /* owned; room for one per input, for infer_inputs.h */
	uint32_t n_places;
	uint64_t payload_bytes;
	uint64_t out_bytes;     /* of filled outputs */
	uint64_t claimed_bytes; /* of inputs and of filled outputs */
};

/**
 * Create the call of @m that @ask requests, with tensors within @limits. @inlines gets
 * a struct msd_inline for each tensor of the payload. Errors, naming the tensor:
 * MSD_BAD_REQUEST, MSD_TOO_LARGE; MSD_NOMEM. Call finish after errors, too.
 */
MSD_MUST_CHECK msd_err msd_infer_make(const struct msd_model *m,
				      const struct msd_infer_ask *ask,
				      const struct msd_limits *limits,
				      struct msd_buf *inlines,
				      struct msd_infer_call *ret, struct msd_diag *d);
/**
 * Append the target of a call, as its first and only parameter: the function of @m;
 * or only @name, if @m is NULL because the name is not known.
 */
void msd_infer_put_target(struct msd_buf *out, struct msd_span name,
			  const struct msd_model *m);
void msd_infer_call_finish(struct msd_infer_call *c);

#endif
