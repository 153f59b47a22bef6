#ifndef MSD_GRAPH_IR_DUMP_H
#define MSD_GRAPH_IR_DUMP_H
/* Parts of a graph as text, for the dump and for inspection. */
#include "graph/modser_graph.h"
#include "proto/base/bytes.h"

/**
 * Append dtype and shape: "float32[1, 3, h, ?]"; "float32[...]" while the shape is
 * unknown.
 */
void msd_sg_put_shape(struct msd_buf *out, const modser_sg_tensor *t);
/** Append the whole graph, as modser_graph_dump() returns it. */
void msd_sg_put_dump(struct msd_buf *out, const modser_graph *g);

#endif
