#ifndef MSD_HTTP_INFER_JSON_H
#define MSD_HTTP_INFER_JSON_H

/* Parse the JSON of an `infer` request within a memory limit. */

#include <stdbool.h>

#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/base/err.h"

struct json_t;

/**
 * Parse @text; the caller frees *@ret with json_decref(). *@ret_has_wide: numbers
 * that jansson cannot hold are strings as in infer_wide.h. Errors: MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_infer_json_load(struct msd_span text, struct json_t **ret,
					   bool *ret_has_wide, struct msd_diag *d);

/* Error texts of `infer` that name the tensor: "input x: ...". */

/**
 * Set an error about the @what ("input" or "output") called @name; a long name is
 * cut. Returns @err.
 */
msd_err msd_infer_wrong_as(struct msd_diag *d, msd_err err, const char *what,
			   struct msd_span name, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
#define msd_infer_wrong(d, what, name, ...)                                            \
	msd_infer_wrong_as(d, MSD_BAD_REQUEST, what, name, __VA_ARGS__)
/** Append the dimensions of a shape, * for a variable one: "[2,*]". */
void msd_infer_put_shape(struct msd_buf *out, const int64_t *shape, uint32_t ndim);

/* Split the body of an infer request into JSON and binary data. */

/**
 * Parse @field, an Inference-Header-Content-Length: the number of bytes of JSON.
 * False if it is not a number, or exceeds @most.
 */
MSD_MUST_CHECK bool msd_infer_text_bytes(struct msd_span field, uint64_t most,
					 size_t *ret);
/**
 * Split @body. @field is its Inference-Header-Content-Length; if its p is NULL, all
 * of the body is JSON. False if the number is invalid for this body, or exceeds
 * @most.
 */
MSD_MUST_CHECK bool msd_infer_split(struct msd_span field, struct msd_span body,
				    uint64_t most, struct msd_span *ret_text,
				    struct msd_span *ret_behind);

#endif
