#ifndef MSD_TMFILE_FACTS_H
#define MSD_TMFILE_FACTS_H
/* The identity and the attributes of a graph, which a tmfile has as attributes of its
 * first node: Tengine ignores those that it does not know. */
#include "graph/modser_graph.h"
#include "graph/serializer/tmfile/writer.h"
#include "proto/base/err.h"

/** The most attributes that tm_facts_write() adds. */
size_t tm_facts_most(const modser_graph *g);
/** Check that tmfiles can express them. -1 with the error of @g. */
MSD_MUST_CHECK int tm_facts_check(modser_graph *g);
/** Write them, and append the offset of each to w->scratch. Returns their number. */
size_t tm_facts_write(struct tm_writer *w, const modser_graph *g, size_t n);
/** Move them from the first node to the graph. -1 with its error. */
MSD_MUST_CHECK int tm_facts_read(modser_graph *g);

#endif
