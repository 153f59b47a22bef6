#ifndef MSD_GRAPH_OP_PARAMS_H
#define MSD_GRAPH_OP_PARAMS_H
/*
 * The parameters of an operator as a struct. A list has a row for each,
 *
 *     X(kind, name, default, SHOWN or RARE)
 *
 * in the order of the schema: OP_PARAMS() (op.h) makes the schema's rows of it,
 * MSD_PARAMS() the struct and the function that reads a node's values by position. So a
 * misspelt name does not compile, and a run compares no names. A RARE parameter is
 * dumped only if it differs from its default. Lists are borrowed from the operator.
 */
#include <stddef.h>
#include <stdint.h>
#ifdef __SANITIZE_ADDRESS__
#include <stdlib.h>
#include <string.h>
#endif

#include "graph/ir/graph.h"
#include "graph/modser_graph.h"

struct msd_ints {
	const int64_t *at;
	size_t n;
};

struct msd_floats {
	const float *at;
	size_t n;
};

/** Entry @i of @list; @otherwise if there are fewer. */
static inline int64_t msd_ints_at(struct msd_ints list, size_t i, int64_t otherwise)
{
	return i < list.n ? list.at[i] : otherwise;
}

/** Parameter @i of @node's operator, which the schema calls @name. */
static inline const modser_sg_attr *msd_params_at(const modser_sg_node *node, size_t i,
						  const char *name)
{
#ifdef __SANITIZE_ADDRESS__ /* The tests find a reader of another operator's list. */
	const modser_sg_op_schema *schema = node->op->schema;

	if (i >= schema->n_fields || strcmp(schema->fields[i].name, name) != 0)
		abort();
#else
	(void)name;
#endif
	return &node->op->params[i];
}

#define MSD_PARAM_TYPE_INT int64_t
#define MSD_PARAM_TYPE_FLOAT float
#define MSD_PARAM_TYPE_STR const char *
#define MSD_PARAM_TYPE_INTS struct msd_ints
#define MSD_PARAM_TYPE_FLOATS struct msd_floats
#define MSD_PARAM_MEMBER(kind, field, value, dump) MSD_PARAM_TYPE_##kind field;

#define MSD_PARAM_VALUE_INT(a) (a)->as.i
#define MSD_PARAM_VALUE_FLOAT(a) (a)->as.f
#define MSD_PARAM_VALUE_STR(a) (a)->as.s
#define MSD_PARAM_VALUE_INTS(a) ((struct msd_ints){(a)->as.ints, (a)->n})
#define MSD_PARAM_VALUE_FLOATS(a) ((struct msd_floats){(a)->as.floats, (a)->n})
#define MSD_PARAM_READ(kind, field, value, dump)                                       \
	at = msd_params_at(node, i++, #field);                                         \
	ret.field = MSD_PARAM_VALUE_##kind(at);

/* The struct of a list, and its reader. The reader is inline, so that it loads only the
 * members that its caller uses. */
#define MSD_PARAMS(id, list)                                                           \
	struct msd_params_##id {                                                       \
		list(MSD_PARAM_MEMBER)                                                 \
	};                                                                             \
	static inline struct msd_params_##id msd_params_##id(                          \
		const modser_sg_node *node)                                            \
	{                                                                              \
		struct msd_params_##id ret;                                            \
		const modser_sg_attr *at;                                              \
		size_t i = 0;                                                          \
                                                                                       \
		list(MSD_PARAM_READ) return ret;                                       \
	}

/* Check in an inference that an integer of the list @id is in a range. */
#define MSD_PARAM_RANGE(node, id, field, min, max)                                     \
	msd_infer_range(node, #field, msd_params_##id(node).field, min, max)

#endif
