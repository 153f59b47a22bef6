#ifndef MSD_GRAPH_OP_OP_H
#define MSD_GRAPH_OP_OP_H
/* Macros for the schemas of operators: each parameter has a default and an offset in
 * a tmfile. */
#include "graph/ir/schema.h"

#define OP_COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* A schema's parameters, the numbers of inputs and outputs, its tmfile type, and the
 * bytes of its parameters in a tmfile. */
#define OP_FIELDS(list) .fields = (list), .n_fields = OP_COUNT(list)
#define OP_IN(min, max) .min_in = (min), .max_in = (max)
#define OP_OUT(min, max) .min_out = (min), .max_out = (max)
#define OP_TM(type, bytes) .tm_type = (type), .tm_bytes = (bytes)

/* A parameter: its name, its default, its offset in a tmfile. */
#define OP_NUMBER(field, value, encoding, offset)                                      \
	{                                                                              \
		.name = (field), .def = {.kind = MODSER_ATTR_INT, .as.i = (value)},    \
		.tm_encoding = (encoding), .tm_offset = (offset)                       \
	}
#define OP_INT(field, value, offset) OP_NUMBER(field, value, MODSER_TM_I32, offset)
#define OP_BYTE(field, value, offset) OP_NUMBER(field, value, MODSER_TM_U8, offset)
#define OP_FLOAT(field, value, offset)                                                 \
	{                                                                              \
		.name = (field),                                                       \
		.def = {.kind = MODSER_ATTR_FLOAT, .as.f = (float)(value)},            \
		.tm_encoding = MODSER_TM_F32, .tm_offset = (offset)                    \
	}
#define OP_LIST(field, type, encoding, offset)                                         \
	{                                                                              \
		.name = (field), .def = {.kind = (type)}, .tm_encoding = (encoding),   \
		.tm_offset = (offset)                                                  \
	}
#define OP_INTS(field, offset)                                                         \
	OP_LIST(field, MODSER_ATTR_INTS, MODSER_TM_I32_VECTOR, offset)
#define OP_FLOATS(field, offset)                                                       \
	OP_LIST(field, MODSER_ATTR_FLOATS, MODSER_TM_F32_VECTOR, offset)
#define OP_FLOATS4(field, offset)                                                      \
	OP_LIST(field, MODSER_ATTR_FLOATS, MODSER_TM_F32X4_VECTOR, offset)
#define OP_TEXT(field, offset)                                                         \
	{                                                                              \
		.name = (field), .def = {.kind = MODSER_ATTR_STR, .as.s = ""},         \
		.tm_encoding = MODSER_TM_STRING, .tm_offset = (offset)                 \
	}
/* A parameter that tmfiles lack: it must have this value to be stored in one. */
#define OP_OWN(field, ...)                                                             \
	{                                                                              \
		.name = (field), .def = {__VA_ARGS__}, .tm_encoding = MODSER_TM_NONE   \
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
