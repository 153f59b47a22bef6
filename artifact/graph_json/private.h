#ifndef MSD_ARTIFACT_GRAPH_JSON_PRIVATE_H
#define MSD_ARTIFACT_GRAPH_JSON_PRIVATE_H
/*
 * The two halves of reading a graph: nodes and edges, then the attributes of entries.
 */
#include <jansson.h>

#include "artifact/graph_json/graph.h"

/** MSD_BAD_ARTIFACT with this text. */
msd_err msd_graph_bad(struct msd_diag *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** A whole number within [0, @max]. */
MSD_MUST_CHECK bool msd_graph_number(const json_t *v, uint64_t max, uint64_t *ret);
/** Fill entries and storages from the graph's attributes; n_entries is known. */
MSD_MUST_CHECK msd_err msd_graph_read_attrs(struct msd_graph *g, struct msd_diag *d);

#endif
