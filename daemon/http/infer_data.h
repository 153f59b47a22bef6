#ifndef MSD_HTTP_INFER_DATA_H
#define MSD_HTTP_INFER_DATA_H

/* Convert tensor elements between JSON and bytes. */

#include "daemon/http/infer_ask.h"
#include "proto/base/bytes.h"
#include "proto/dtype.h"

struct json_t;

/**
 * Write the elements of @t from the JSON @data to t->bytes bytes at @out. The JSON is
 * a flat array, or nested arrays that match the shape. With @has_wide, strings may be
 * numbers (infer_wide.h). Errors: MSD_BAD_REQUEST: too many or too few elements, one
 * of the wrong type or out of range, or a type that JSON has no numbers for.
 */
MSD_MUST_CHECK msd_err msd_infer_data_read(const struct msd_infer_input *t,
					   const struct json_t *data, bool has_wide,
					   uint8_t *out, struct msd_diag *d);
/**
 * Append @n elements of @dtype at @p as a flat array. Errors: MSD_BAD_REQUEST: a
 * value that JSON cannot represent, or @out has more than @most bytes; then discard the
 * appended text.
 */
MSD_MUST_CHECK msd_err msd_infer_data_write(struct msd_dtype dtype, const uint8_t *p,
					    uint64_t n, uint64_t most,
					    struct msd_buf *out, struct msd_diag *d);

/* Map between the datatype names of the Open Inference Protocol and our element
 * types. */

/** The protocol's name; NULL if it has none. Static. */
const char *msd_datatype_name(struct msd_dtype dtype);
/** False for an unknown type, or one without a fixed element size (BYTES). */
MSD_MUST_CHECK bool msd_datatype_read(struct msd_span name, struct msd_dtype *ret);

#endif
