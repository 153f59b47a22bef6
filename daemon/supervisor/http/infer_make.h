#ifndef MSD_SUPERVISOR_INFER_MAKE_H
#define MSD_SUPERVISOR_INFER_MAKE_H
/*
 * From what an `infer` asks of a model to a call as a client of the protocol would make
 * it: the same parameters and options, its inputs as inline tensors of a payload.
 */
#include "daemon/http/infer_ask.h"
#include "daemon/supervisor/http/model.h"
#include "daemon/wire/conn.h"

struct iovec;
struct msd_limits;

/* Where in the payload the bytes of an input go. */
struct msd_infer_place {
	const struct msd_infer_input *input; /* NULL: it has no bytes there */
	bool is_used;
	uint64_t offset;
};

struct msd_infer_call {
	struct msd_buf
		body; /* a request's, as a client of the protocol would send it */
	size_t params_at, options_at; /* in it; the options may be nothing */
	/* Of what it fills, then of what it returns as far as the model tells: u32
	 * bytes and the name, in order. */
	struct msd_buf out_names;
	uint32_t n_returned;            /* of these, how many are of what it returns */
	struct msd_infer_place *places; /* owned; one for each input, in their order */
	struct iovec *pieces; /* owned; room for one for each, infer_inputs.h's */
	uint32_t n_places;
	uint32_t n_tensors; /* in params */
	uint64_t payload_bytes;
	uint64_t claimed_bytes; /* of these and of the outputs that it fills */
};

/**
 * The call of @m that @ask asks for, with tensors within @limits. Errors, naming the
 * tensor: MSD_BAD_REQUEST, MSD_TOO_LARGE; MSD_NOMEM. finish is wanted after them, too.
 */
MSD_MUST_CHECK msd_err msd_infer_make(const struct msd_model *m,
				      const struct msd_infer_ask *ask,
				      const struct msd_limits *limits,
				      struct msd_infer_call *ret, struct msd_diag *d);
/** Append the target of a call, as its first and only parameter: of @m, or NULL where
 * nothing is called @name. */
void msd_infer_put_target(struct msd_buf *out, struct msd_span name,
			  const struct msd_model *m);
/** As a frame that brings it would be handed on; borrows from @c. */
struct msd_in msd_infer_in(const struct msd_infer_call *c, uint64_t id,
			   uint64_t now_ms);
void msd_infer_call_finish(struct msd_infer_call *c);

#endif
