#ifndef MSD_GRAPH_OP_SELECT_H
#define MSD_GRAPH_OP_SELECT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/dtype.h"

/* The axis of a Compress that says none: the tensor is one row. */
#define MSD_OP_FLAT INT64_MIN

/** Is element @i of compact data at @p, of whole bytes, 0? */
bool msd_op_is_zero(struct msd_dtype dtype, const void *p, size_t i);

#endif
