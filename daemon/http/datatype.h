#ifndef MSD_HTTP_DATATYPE_H
#define MSD_HTTP_DATATYPE_H
/* Names of element types: the Open Inference Protocol's, for ours. */
#include "proto/bytes.h"
#include "proto/dtype.h"

/** Its name there; NULL: it has none. Static. */
const char *msd_datatype_name(struct msd_dtype dtype);
/** False: no such type, or one whose elements have no size of their own (BYTES). */
MSD_MUST_CHECK bool msd_datatype_read(struct msd_span name, struct msd_dtype *ret);

#endif
