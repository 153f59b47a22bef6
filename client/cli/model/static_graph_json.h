#ifndef MSD_CLI_STATIC_GRAPH_JSON_H
#define MSD_CLI_STATIC_GRAPH_JSON_H
/* Makes the output of `modser inspect --json` for a framework's model. */
#include <jansson.h>

#include "graph/modser_graph.h"

/**
 * @g as a document that the caller owns; NULL: out of memory. Infers the shapes of @g
 * as far as possible without a run.
 */
json_t *msd_static_graph_json(modser_graph *g);

#endif
