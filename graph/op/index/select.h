#ifndef MSD_GRAPH_OP_SELECT_H
#define MSD_GRAPH_OP_SELECT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/dtype.h"

/* The axis of a Compress without one: the tensor is flattened. */
#define MSD_OP_FLAT INT64_MIN

/** True if element @i of the compact data at @p, of whole bytes, is 0. */
bool msd_op_is_zero(struct msd_dtype dtype, const void *p, size_t i);

#endif
