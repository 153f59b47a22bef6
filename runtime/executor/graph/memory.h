#ifndef MSD_RUNTIME_EXECUTOR_GRAPH_MEMORY_H
#define MSD_RUNTIME_EXECUTOR_GRAPH_MEMORY_H
/* The memory of one instance of a graph: its storages, and the tensors in them that
 * are the operators' arguments. Private to memory.c and run.c. */
#include "runtime/executor/graph/plan.h"
#include "runtime/value/dltensor.h"

#define MSD_NO_VIEW UINT32_MAX

/* A tensor in a storage, as passed to operators. */
struct msd_graph_view {
	struct msd_dltensor dl;
	int64_t extent; /* dl.shape if it is flattened */
	uint32_t next;  /* next view in the same storage; MSD_NO_VIEW ends */
};

struct msd_graph_slot { /* one per storage */
	uint32_t first_view;
	struct msd_storage *own; /* NULL: memory of the caller or the plan */
};

struct msd_graph_instance {
	const struct msd_graph_plan *plan;
	struct msd_storage_pool *pool;
	struct msd_graph_view *views; /* one per entry, then the flattened ones */
	uint32_t n_views;
	struct msd_graph_slot *slots;
	struct msd_any *args; /* arguments of all operators, concatenated */
};

static inline const struct msd_graph *msd_graph_of(const struct msd_graph_instance *g)
{
	return &g->plan->graph;
}

/** Move all tensors of storage @s to @data. */
void msd_graph_slot_point(struct msd_graph_instance *g, uint32_t s, void *data);
/** Allocate own memory for storage @s; false: out of memory. */
MSD_MUST_CHECK bool msd_graph_slot_fill(struct msd_graph_instance *g, uint32_t s);
void msd_graph_slot_drop(struct msd_graph_instance *g, uint32_t s);
/** Ensure own memory, zeroed when new: 0, or -1 with the error raised. */
int msd_graph_slot_own(struct msd_graph_instance *g, uint32_t s);
/**
 * Copy between the graph's device and the host, or within one: 0, or -1 with the
 * error raised. A copy to or from the host is done on return because the host memory
 * may change next.
 */
int msd_graph_copy(const struct msd_graph_instance *g, void *dst, struct msd_device to,
		   const void *src, struct msd_device from, size_t n);

#endif
