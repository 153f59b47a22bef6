#ifndef MSD_HTTP_INFER_SPLIT_H
#define MSD_HTTP_INFER_SPLIT_H
/* Where the JSON of an infer ends, and its bytes begin. */
#include <stdbool.h>

#include "proto/bytes.h"
#include "proto/err.h"

/** How many bytes of JSON an Inference-Header-Content-Length, @field, announces. False:
 * it is no number, or more than may be JSON. */
MSD_MUST_CHECK bool msd_infer_text_bytes(struct msd_span field, size_t *ret);
/**
 * Cut @body, where @field is its Inference-Header-Content-Length; p NULL: all of it is
 * JSON. False: that is no number of its bytes, or more than may be JSON.
 */
MSD_MUST_CHECK bool msd_infer_split(struct msd_span field, struct msd_span body,
				    struct msd_span *ret_text,
				    struct msd_span *ret_behind);

#endif
