#ifndef MSD_GRAPH_IR_REFUSE_H
#define MSD_GRAPH_IR_REFUSE_H
/* Check structs that a program or a plugin registers, before any field is used. Each
 * struct begins with its size. */
#include <stddef.h>

#include "graph/modser_graph.h"
#include "proto/base/err.h"

struct msd_struct_field {
	const char *name;
	size_t at; /* offset of a pointer that must not be NULL */
};

/* A kind of struct, and its required pointers. */
struct msd_struct {
	const char *name;
	size_t bytes;
	const struct msd_struct_field *fields;
	size_t n;
	size_t least; /* bytes of the oldest one that is accepted; 0: only `bytes` */
};

#define MSD_FIELD(type, field)                                                         \
	{                                                                              \
#field, offsetof(type, field)                                          \
	}
#define MSD_STRUCT(type, fields) MSD_GROWN_STRUCT(type, fields, 0)
/* A struct that grew by pointers at its end. */
#define MSD_GROWN_STRUCT(type, fields, least)                                          \
	{                                                                              \
#type, sizeof(type), (fields), sizeof(fields) / sizeof((fields)[0]),   \
			(least)                                                        \
	}

/**
 * True if @p is such a struct with all required pointers. False with the error text
 * of the thread.
 */
MSD_MUST_CHECK bool msd_struct_check(const struct msd_struct *kind, const void *p);
/** True if the attribute has its value: text, list or graph, not NULL. */
bool msd_sg_attr_is_whole(const modser_sg_attr *a);
/** Clear the error text of this thread. */
void msd_refuse_nothing(void);
/** Record why a registration fails. Returns -1. */
int msd_refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
