#ifndef MSD_GRAPH_INSPECT_INSPECT_H
#define MSD_GRAPH_INSPECT_INSPECT_H
/* What a graph holds, for people and as a picture. */
#include "graph/modser_graph.h"
#include "proto/bytes.h"

/** Append inputs, outputs, operators with their counts, and constants as text. */
void msd_sg_inspect_text(const modser_graph *g, struct msd_buf *out);
/** The nodes and what goes between them for Graphviz, without constants. */
void msd_sg_inspect_dot(const modser_graph *g, struct msd_buf *out);

#endif
