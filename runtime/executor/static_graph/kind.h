#ifndef MSD_RUNTIME_EXECUTOR_STATIC_GRAPH_KIND_H
#define MSD_RUNTIME_EXECUTOR_STATIC_GRAPH_KIND_H
/* A framework's model as a node. Its only function is `run`, which runs the whole
 * model in one call. */
#include "runtime/module/node.h"

/** Its payload is the model's file, which must outlive the node. */
extern const struct msd_node_ops msd_kind_static_graph;

/** Append the contents of the model of an open @node, as inspect prints them. */
void msd_static_graph_text(const struct msd_node *node, struct msd_buf *out);

#endif
