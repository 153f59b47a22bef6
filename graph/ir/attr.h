#ifndef MSD_GRAPH_IR_ATTR_H
#define MSD_GRAPH_IR_ATTR_H
/* Typed values and lists of them by name. */
#include "graph/modser_graph.h"
#include "proto/base/bytes.h"

struct msd_sg_attrs {
	struct msd_sg_attr {
		char *name;
		modser_sg_attr value;
	} * items;
	size_t n;
};

/** Copy @from with its own lists and texts; graphs are moved. False: memory is short.
 */
MSD_MUST_CHECK bool msd_sg_attr_copy(const modser_sg_attr *from, modser_sg_attr *ret);
void msd_sg_attr_finish(modser_sg_attr *a);
/** The bytes of a text or list, *@ret_n of them; 0 for other kinds. Borrowed. */
const void *msd_sg_attr_bytes(const modser_sg_attr *a, size_t *ret_n);
/**
 * True if kind and bits are equal; graphs are equal only if they are the same object.
 */
bool msd_sg_attr_equal(const modser_sg_attr *a, const modser_sg_attr *b);
/** Append @a as text, on one line; a graph is shown only as such. */
void msd_sg_attr_put(struct msd_buf *out, const modser_sg_attr *a);

/** The attribute called @name, borrowed; NULL if absent. */
const modser_sg_attr *msd_sg_attrs_find(const struct msd_sg_attrs *list,
					const char *name);
/** True if an attribute of that name says where a graph came from: "onnx.producer". */
bool msd_sg_attr_is_origin(const char *name);
/** Attribute @i, with its name in *@ret_name; NULL if there are fewer. */
const modser_sg_attr *msd_sg_attrs_at(const struct msd_sg_attrs *list, size_t i,
				      const char **ret_name);
/**
 * Add to a list of @g. Returns 0, or -1: the name is in use, or see
 * msd_sg_take_graph().
 */
MSD_MUST_CHECK int msd_sg_attrs_add(modser_graph *g, struct msd_sg_attrs *list,
				    const char *name, const modser_sg_attr *value);
void msd_sg_attrs_finish(struct msd_sg_attrs *list);

#endif
