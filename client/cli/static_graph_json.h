#ifndef MSD_CLI_STATIC_GRAPH_JSON_H
#define MSD_CLI_STATIC_GRAPH_JSON_H
/* What `modser inspect --json` says of a framework's model. */
#include <jansson.h>

#include "graph/modser_graph.h"

/** @g as a document, the caller's; NULL when memory is short. Shapes of @g follow then
 * as far as they do without a run. */
json_t *msd_static_graph_json(modser_graph *g);

#endif
