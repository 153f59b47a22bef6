#ifndef MSD_SUPERVISOR_SHAPES_H
#define MSD_SUPERVISOR_SHAPES_H
/* What a call was given, without the values: "float32[1, 784], int, out:float32[10]".
 */
#include "proto/bytes.h"

#define MSD_SHAPES_BYTES 256u /* with the NUL; what is longer ends with "..." */

/** The arguments in the scanned @params of a call, whose first one is the target. */
const char *msd_shapes_text(struct msd_span params, char ret[MSD_SHAPES_BYTES]);

#endif
