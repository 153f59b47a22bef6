#ifndef MSD_GRAPH_OP_LOSS_H
#define MSD_GRAPH_OP_LOSS_H
#include <stdint.h>

/* No label is ignored: ONNX's meaning of a missing ignore_index. */
#define MSD_OP_IGNORES_NONE INT64_MIN

#endif
