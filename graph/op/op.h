#ifndef MSD_GRAPH_OP_OP_H
#define MSD_GRAPH_OP_OP_H
/* Macros for the schemas of operators: each parameter has a default. */
#include "graph/ir/schema.h"

#define OP_COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* A schema's parameters, and the numbers of inputs and outputs. */
#define OP_FIELDS(list) .fields = (list), .n_fields = OP_COUNT(list)
#define OP_IN(min, max) .min_in = (min), .max_in = (max)
#define OP_OUT(min, max) .min_out = (min), .max_out = (max)

/* A parameter: its name and its default. */
#define OP_FIELD(field, ...)                                                           \
	{                                                                              \
		.name = (field), .def = { __VA_ARGS__ }                                \
	}
#define OP_INT(field, value) OP_FIELD(field, .kind = MODSER_ATTR_INT, .as.i = (value))
#define OP_FLOAT(field, value)                                                         \
	OP_FIELD(field, .kind = MODSER_ATTR_FLOAT, .as.f = (float)(value))
#define OP_TEXT(field) OP_FIELD(field, .kind = MODSER_ATTR_STR, .as.s = "")
#define OP_INTS(field) OP_FIELD(field, .kind = MODSER_ATTR_INTS)
#define OP_FLOATS(field) OP_FIELD(field, .kind = MODSER_ATTR_FLOATS)
/* A parameter that is dumped only if it differs from its default. */
#define OP_OWN(field, ...)                                                             \
	{                                                                              \
		.name = (field), .def = {__VA_ARGS__}, .is_rare = true                 \
	}
#define OP_OWN_INT(field, value) OP_OWN(field, .kind = MODSER_ATTR_INT, .as.i = (value))
#define OP_OWN_FLOAT(field, value)                                                     \
	OP_OWN(field, .kind = MODSER_ATTR_FLOAT, .as.f = (float)(value))
#define OP_OWN_TEXT(field, value)                                                      \
	OP_OWN(field, .kind = MODSER_ATTR_STR, .as.s = (value))
#define OP_OWN_INTS(field) OP_OWN(field, .kind = MODSER_ATTR_INTS)
#define OP_OWN_FLOATS(field) OP_OWN(field, .kind = MODSER_ATTR_FLOATS)
#define OP_INT64 ((struct msd_dtype){MSD_DT_INT, 64, 1})
#define OP_FLOAT32 ((struct msd_dtype){MSD_DT_FLOAT, 32, 1})
#define OP_UINT8 ((struct msd_dtype){MSD_DT_UINT, 8, 1})
#define OP_INT32 ((struct msd_dtype){MSD_DT_INT, 32, 1})
#define OP_BOOL ((struct msd_dtype){MSD_DT_BOOL, 8, 1})

#endif
