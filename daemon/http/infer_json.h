#ifndef MSD_HTTP_INFER_JSON_H
#define MSD_HTTP_INFER_JSON_H
/* The JSON of an `infer` from its text, within what reading it may take. */
#include "proto/bytes.h"
#include "proto/diag.h"

struct json_t;

/** Read @text; json_decref() frees *@ret. *@ret_has_wide: numbers that there is no room
 * for are those of infer_wide.h. Errors: MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_infer_json_load(struct msd_span text, struct json_t **ret,
					   bool *ret_has_wide, struct msd_diag *d);

#endif
