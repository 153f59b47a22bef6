#ifndef MSD_HTTP_INFER_JSON_H
#define MSD_HTTP_INFER_JSON_H
/* Parse the JSON of an `infer` request within a memory limit. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

struct json_t;

/**
 * Parse @text; the caller frees *@ret with json_decref(). *@ret_has_wide: numbers
 * that jansson cannot hold are strings as in infer_wide.h. Errors: MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_infer_json_load(struct msd_span text, struct json_t **ret,
					   bool *ret_has_wide, struct msd_diag *d);

#endif
