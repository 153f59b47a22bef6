#ifndef MSD_HTTP_INFER_SPLIT_H
#define MSD_HTTP_INFER_SPLIT_H
/* Split the body of an infer request into JSON and binary data. */
#include <stdbool.h>

#include "proto/base/bytes.h"
#include "proto/base/err.h"

/**
 * Parse @field, an Inference-Header-Content-Length: the number of bytes of JSON.
 * False if it is not a number, or exceeds the JSON limit.
 */
MSD_MUST_CHECK bool msd_infer_text_bytes(struct msd_span field, size_t *ret);
/**
 * Split @body. @field is its Inference-Header-Content-Length; if its p is NULL, all
 * of the body is JSON. False if the number is invalid for this body, or exceeds the
 * JSON limit.
 */
MSD_MUST_CHECK bool msd_infer_split(struct msd_span field, struct msd_span body,
				    struct msd_span *ret_text,
				    struct msd_span *ret_behind);

#endif
