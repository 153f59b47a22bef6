#ifndef MSD_HTTP_DATATYPE_H
#define MSD_HTTP_DATATYPE_H
/* Map between the datatype names of the Open Inference Protocol and our element
 * types. */
#include "proto/base/bytes.h"
#include "proto/dtype.h"

/** The protocol's name; NULL if it has none. Static. */
const char *msd_datatype_name(struct msd_dtype dtype);
/** False for an unknown type, or one without a fixed element size (BYTES). */
MSD_MUST_CHECK bool msd_datatype_read(struct msd_span name, struct msd_dtype *ret);

#endif
