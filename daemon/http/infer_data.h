#ifndef MSD_HTTP_INFER_DATA_H
#define MSD_HTTP_INFER_DATA_H
/* Elements of a tensor as JSON has them, from and to their bytes. */
#include "daemon/http/infer_ask.h"

struct json_t;

/**
 * Write the elements of @t, of which @data is the JSON, to t->bytes bytes at @out: a
 * flat array of them, or arrays in arrays as its shape says; with @has_wide texts may
 * be numbers (infer_wide.h). Errors: MSD_BAD_REQUEST:
 * too many, too few, of another type or out of its range; a type that JSON has no
 * numbers for.
 */
MSD_MUST_CHECK msd_err msd_infer_data_read(const struct msd_infer_input *t,
					   const struct json_t *data, bool has_wide,
					   uint8_t *out, struct msd_diag *d);
/** Append @n elements of @dtype that lie at @p as a flat array. Errors:
 * MSD_BAD_REQUEST: what JSON cannot say; nothing that is appended is good then. */
MSD_MUST_CHECK msd_err msd_infer_data_write(struct msd_dtype dtype, const uint8_t *p,
					    uint64_t n, struct msd_buf *out,
					    struct msd_diag *d);

#endif
