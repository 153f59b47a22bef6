#ifndef MSD_TMFILE_FORMAT_H
#define MSD_TMFILE_FORMAT_H
/* tmfiles, version 2: C structures of little-endian 32-bit fields that refer to each
 * other by their offsets in the file. docs/reference/tmfile.md has them as a
 * table. */
#include <stdint.h>

#define TM_HEADER_BYTES 12u
#define TM_MODEL_BYTES 16u
#define TM_SUBGRAPH_BYTES 36u /* 40 since 2021; the last field is not needed */
#define TM_NODE_BYTES 28u
#define TM_OPERATOR_BYTES 12u
#define TM_TENSOR_BYTES 32u
#define TM_BUFFER_BYTES 8u
#define TM_QUANT_BYTES 12u
#define TM_ATTR_BYTES 12u
#define TM_LAYOUT_NHWC 1u
#define TM_MAX_ATTRS 1024u      /* limit for a node */
#define TM_MAX_BYTES UINT32_MAX /* offsets have 32 bits */

/* Element types by their numbers in a tmfile; NULL ends the list. */
extern const char *const tm_dtypes[];

/* Attributes of the graph for file fields that this library does not use: ints. */
#define TM_ATTR_FORMAT "tmfile.orig_format"
#define TM_ATTR_SUB_FORMAT "tmfile.sub_format"
#define TM_ATTR_DYNAMIC "tmfile.dynamic_shape" /* attribute of an operator */

#endif
