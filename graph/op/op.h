#ifndef MSD_GRAPH_OP_OP_H
#define MSD_GRAPH_OP_OP_H
/* Macros for the schemas of operators: each parameter has a default. */
#include "graph/ir/schema.h"

#define OP_COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* The numbers of a schema's inputs and outputs. */
#define OP_IN(min, max) .min_in = (min), .max_in = (max)
#define OP_OUT(min, max) .min_out = (min), .max_out = (max)

/* The rows of a list of parameters (params.h). */
#define OP_VALUE_INT(value) .as.i = (value)
#define OP_VALUE_FLOAT(value) .as.f = (float)(value)
#define OP_VALUE_STR(value) .as.s = (value)
#define OP_VALUE_INTS(value) .as.ints = (value)
#define OP_VALUE_FLOATS(value) .as.floats = (value)
#define OP_IS_SHOWN false
#define OP_IS_RARE true
#define OP_ROW(param, field, value, dump)                                              \
	{                                                                              \
		.name = #field,                                                        \
		.def = {.kind = MODSER_ATTR_##param, OP_VALUE_##param(value)},         \
		.is_rare = OP_IS_##dump,                                               \
	},
#define OP_ROWS(list)                                                                  \
	(const modser_sg_op_field[])                                                   \
	{                                                                              \
		list(OP_ROW)                                                           \
	}
#define OP_PARAMS(list) .fields = OP_ROWS(list), .n_fields = OP_COUNT(OP_ROWS(list))
#define OP_INT64 ((struct msd_dtype){MSD_DT_INT, 64, 1})
#define OP_FLOAT32 ((struct msd_dtype){MSD_DT_FLOAT, 32, 1})
#define OP_UINT8 ((struct msd_dtype){MSD_DT_UINT, 8, 1})
#define OP_INT32 ((struct msd_dtype){MSD_DT_INT, 32, 1})
#define OP_BOOL ((struct msd_dtype){MSD_DT_BOOL, 8, 1})

#endif
