#ifndef MSD_RUNTIME_ENGINE_OUTLINE_FLOW_H
#define MSD_RUNTIME_ENGINE_OUTLINE_FLOW_H
/* The nodes of an outline (outline.h) that run graphs themselves. */
#include "graph/ir/graph.h"
#include "proto/diag.h"

/** Are all extents of @t known? */
bool msd_outline_has_shape(const modser_sg_tensor *t);
/** The bytes of @t; NULL: they are not there, or it is empty. */
const void *msd_outline_value_of(const modser_sg_tensor *t);
/** Infer @g, whose inputs have what is known of them. */
MSD_MUST_CHECK msd_err msd_outline_graph(modser_graph *g, struct msd_diag *d);
/** Outputs of @node, which runs graphs, whose plans were made: of what it would do with
 * as many turns as are known, and with none where that is not known. */
MSD_MUST_CHECK msd_err msd_outline_node(const modser_sg_node *node, struct msd_diag *d);

#endif
