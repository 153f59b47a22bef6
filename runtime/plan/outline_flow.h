#ifndef MSD_RUNTIME_ENGINE_OUTLINE_FLOW_H
#define MSD_RUNTIME_ENGINE_OUTLINE_FLOW_H
/* Shape inference (outline.h) of nodes that run graphs themselves. */
#include <stdbool.h>

#include "graph/modser_graph.h"
#include "proto/base/diag.h"

/** True if all extents of @t are known. */
bool msd_outline_has_shape(const modser_sg_tensor *t);
/** True if all extents of the inputs and outputs of @node are known. */
bool msd_outline_is_shaped(const modser_sg_node *node);
/** The bytes of @t; NULL: they are missing, or it is empty. */
const void *msd_outline_value_of(const modser_sg_tensor *t);
/** Infer @g, a view; its inputs have the known shapes and values. */
MSD_MUST_CHECK msd_err msd_outline_graph(modser_graph *g, struct msd_diag *d);
/**
 * Infer the outputs of @node, which runs graphs and has plans for them. Uses the
 * known number of iterations, or zero if it is not known.
 */
MSD_MUST_CHECK msd_err msd_outline_node(const modser_sg_node *node, struct msd_diag *d);

#endif
