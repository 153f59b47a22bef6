#ifndef MSD_SUPERVISOR_CALL_SHAPES_H
#define MSD_SUPERVISOR_CALL_SHAPES_H
/* The arguments of a call, without the values: "float32[1, 784], int,
 * out:float32[10]". */
#include "proto/base/bytes.h"

#define MSD_CALL_SHAPES_BYTES 256u /* with the NUL; a longer text ends with "..." */

/**
 * Format the arguments in the scanned @params of a call, whose first one is the
 * target.
 */
const char *msd_call_shapes_text(struct msd_span params,
				 char ret[MSD_CALL_SHAPES_BYTES]);

#endif
