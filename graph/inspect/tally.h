#ifndef MSD_GRAPH_INSPECT_TALLY_H
#define MSD_GRAPH_INSPECT_TALLY_H
/* Count the operators and the size of the constants, in a graph and in the subgraphs
 * of its nodes. */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

struct msd_sg_tally {
	struct msd_sg_tally_row {
		const char *op;
		size_t n;
	} * rows; /* the most frequent first, then by name */
	size_t n_rows;
	size_t n_nodes; /* in the graph alone */
	size_t n_tensors;
	size_t n_constants;
	uint64_t constant_bytes;
	uint64_t stripped_bytes; /* part of the above that is not in the file */
};

/** False: memory is short. Finish *@ret in any case. */
MSD_MUST_CHECK bool msd_sg_tally_count(const modser_graph *g, struct msd_sg_tally *ret);
void msd_sg_tally_finish(struct msd_sg_tally *t);

#endif
