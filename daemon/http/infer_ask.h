#ifndef MSD_HTTP_INFER_ASK_H
#define MSD_HTTP_INFER_ASK_H
/*
 * What the JSON of an `infer` of the Open Inference Protocol asks for. It knows no
 * model: names, shapes and types are looked at for themselves alone.
 */
#include <stdbool.h>

#include "proto/bytes.h"
#include "proto/diag.h"
#include "proto/dtype.h"

#define MSD_INFER_JSON_BYTES (1u << 20)  /* of a request's JSON, and elements in it */
#define MSD_INFER_READ_BYTES (32u << 20) /* about what reading it may take at most */

/* An input. */
struct msd_infer_input {
	struct msd_span name;
	struct msd_dtype dtype;
	uint32_t ndim;
	int64_t shape[MSD_MAX_NDIM];
	uint64_t n_elements, bytes;
	bool has_data; /* else its bytes lie behind the JSON */
	size_t from;   /* there, or in `values` */
};

/* An output that the answer is to have. */
struct msd_infer_output {
	struct msd_span name;
	bool is_binary;
	bool has_shape; /* an extension: of a function that fills its outputs */
	uint32_t ndim;
	int64_t shape[MSD_MAX_NDIM];
};

struct msd_infer_ask {
	uint8_t *kept; /* the bytes of the spans; owned */
	size_t n_kept;
	struct msd_buf values; /* bytes of the inputs that the JSON has data of */
	struct msd_span id;    /* p NULL: it has none */
	bool has_deadline;
	uint32_t deadline_ms;
	bool is_binary; /* outputs that it does not name are to be binary */
	struct msd_infer_input *inputs; /* owned */
	struct msd_infer_output *outputs;
	uint32_t n_inputs, n_outputs; /* of outputs none: all */
};

/**
 * Read @text, behind which @behind_bytes lie: the binary inputs, one after the other.
 * What it has says nothing of @text any more. Any thread may do it. Errors:
 * MSD_BAD_REQUEST, naming the tensor and what was expected; MSD_NOMEM. Nothing is kept
 * of it then.
 */
MSD_MUST_CHECK msd_err msd_infer_ask_read(struct msd_infer_ask *ret,
					  struct msd_span text, uint64_t behind_bytes,
					  struct msd_diag *d);
/** Bytes of memory that it holds. */
size_t msd_infer_ask_bytes(const struct msd_infer_ask *a);
/** Free what it holds; zeroed ones are fine. */
void msd_infer_ask_finish(struct msd_infer_ask *a);

#endif
