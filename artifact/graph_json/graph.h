#ifndef MSD_ARTIFACT_GRAPH_JSON_GRAPH_H
#define MSD_ARTIFACT_GRAPH_JSON_GRAPH_H
/*
 * The graph of a graph executor: graph.json of TVM 0.6 to 0.19, decoded and checked.
 * Nodes are in execution order. An entry is one output of one node; several entries
 * may share a storage.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/dtype.h"

struct msd_graph_entry {
	struct msd_dtype dtype; /* bool in the classic encoding, {uint,1,1} */
	uint32_t ndim;
	int64_t *shape;
	size_t bytes;
	uint32_t storage;    /* below n_storages */
	int32_t device_type; /* 0: not in the graph */
};

struct msd_graph_node {
	const char *name;
	const char *func; /* NULL: an input or parameter; "__nop", "__copy", ... */
	const uint32_t *inputs; /* entries of earlier nodes */
	uint32_t n_inputs;
	uint32_t first_entry;
	uint32_t n_entries;
	bool flatten; /* the function takes tensors of rank 1 */
};

struct msd_graph {
	struct msd_graph_node *nodes;
	uint32_t n_nodes;
	struct msd_graph_entry *entries;
	uint32_t n_entries;
	uint32_t *args; /* nodes without a function, in the model's order */
	uint32_t n_args;
	uint32_t *heads; /* entries that are the outputs */
	uint32_t n_heads;
	int64_t *storage_ids; /* as numbered in the file, for linked parameters */
	uint32_t n_storages;
	/* Storage of the pointers above. */
	uint32_t *input_pool;
	int64_t *shape_pool;
	struct json_t *json;
};

/**
 * Read @text, JSON. Guarantees: every index is in range; a node's inputs are entries
 * of earlier nodes; args are exactly the nodes without a function, each with one
 * entry; shapes have at most MSD_MAX_NDIM extents and a size that fits. The caller
 * owns *@ret (finish it), which borrows nothing from @text. Errors: MSD_BAD_ARTIFACT
 * (the text names the node or attribute), MSD_UNSUPPORTED, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_graph_read(struct msd_span text, struct msd_graph *ret,
				      struct msd_diag *d);
void msd_graph_finish(struct msd_graph *g); /* NULL and zeroed are allowed */

#endif
