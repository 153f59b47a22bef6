#ifndef MSD_GRAPH_INSPECT_INSPECT_H
#define MSD_GRAPH_INSPECT_INSPECT_H
/* What a graph holds, for people and as a picture. */
#include "graph/modser_graph.h"
#include "proto/bytes.h"

/** Append inputs, outputs, operators with their counts, and constants as text. */
void msd_sg_inspect_text(const modser_graph *g, struct msd_buf *out);
/** The nodes and what goes between them for Graphviz, without constants. */
void msd_sg_inspect_dot(const modser_graph *g, struct msd_buf *out);

/** Number @i of what the file says of itself (its opset, who wrote it): a number or a
 * text, and its name in *@ret_name; others are left out. NULL: there are fewer. */
const modser_sg_attr *msd_sg_inspect_attr(const modser_graph *g, size_t i,
					  const char **ret_name);

#endif
