#ifndef MSD_HTTP_INFER_ASK_H
#define MSD_HTTP_INFER_ASK_H
/* Parse the JSON of an Open Inference Protocol `infer` request. No model is
 * consulted: only names, shapes and types are checked. */
#include <stdbool.h>

#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/dtype.h"

#define MSD_INFER_READ_BYTES (32u << 20) /* approximate memory limit for parsing */

/* An input tensor. */
struct msd_infer_input {
	struct msd_span name;
	struct msd_dtype dtype;
	uint32_t ndim;
	int64_t shape[MSD_MAX_NDIM];
	uint64_t n_elements, bytes;
	bool has_data; /* false: its bytes follow the JSON */
	size_t from;   /* offset after the JSON, or in `values` */
};

/* A requested output. */
struct msd_infer_output {
	struct msd_span name;
	bool is_binary;
	bool has_shape; /* an extension: the function fills its outputs */
	uint32_t ndim;
	int64_t shape[MSD_MAX_NDIM];
};

struct msd_infer_ask {
	uint8_t *kept; /* storage of the spans; owned */
	size_t n_kept;
	struct msd_buf values; /* bytes of the inputs whose data is in the JSON */
	struct msd_span id;    /* p is NULL if absent */
	bool has_deadline;
	uint32_t deadline_ms;
	bool is_binary;                 /* outputs not listed are sent as binary */
	struct msd_infer_input *inputs; /* owned */
	struct msd_infer_output *outputs;
	uint32_t n_inputs, n_outputs; /* no outputs means all */
};

/**
 * Parse @text with jansson. @behind_bytes bytes of binary inputs follow it, one input
 * after the other. The result does not borrow from @text. Any thread may call this.
 * Errors: MSD_BAD_REQUEST, naming the tensor and what was expected; MSD_NOMEM. On
 * failure nothing is kept.
 */
MSD_MUST_CHECK msd_err msd_infer_ask_read(struct msd_infer_ask *ret,
					  struct msd_span text, uint64_t behind_bytes,
					  struct msd_diag *d);
/** Copy the texts of @a, so that it does not borrow them any more. */
MSD_MUST_CHECK msd_err msd_infer_ask_settle(struct msd_infer_ask *a,
					    struct msd_diag *d);
/** Memory in use, in bytes. */
size_t msd_infer_ask_bytes(const struct msd_infer_ask *a);
/** Free the contents. A zeroed struct is allowed. */
void msd_infer_ask_finish(struct msd_infer_ask *a);

#endif
