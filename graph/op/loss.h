#ifndef MSD_GRAPH_OP_LOSS_H
#define MSD_GRAPH_OP_LOSS_H
#include <stdint.h>

/* No label is left out: what ONNX says by having no ignore_index. */
#define MSD_OP_IGNORES_NONE INT64_MIN

#endif
