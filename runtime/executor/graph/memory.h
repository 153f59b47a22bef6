#ifndef MSD_RUNTIME_EXECUTOR_GRAPH_MEMORY_H
#define MSD_RUNTIME_EXECUTOR_GRAPH_MEMORY_H
/*
 * The memory of one instance of a graph: its storages, and the tensors in them that
 * operators are called with. Private to memory.c and run.c.
 */
#include "runtime/executor/graph/plan.h"
#include "runtime/value/dltensor.h"

#define MSD_NO_VIEW UINT32_MAX

/* A tensor in a storage, as operators get it. */
struct msd_graph_view {
	struct msd_dltensor dl;
	int64_t extent; /* dl.shape when it is flattened */
	uint32_t next;  /* in the same storage; MSD_NO_VIEW ends */
};

struct msd_graph_slot { /* one per storage */
	uint32_t first_view;
	struct msd_storage *own; /* NULL: the caller's memory, or the plan's */
};

struct msd_graph_instance {
	const struct msd_graph_plan *plan;
	struct msd_storage_pool *pool;
	struct msd_graph_view *views; /* one per entry, then those that are flattened */
	uint32_t n_views;
	struct msd_graph_slot *slots;
	struct msd_any *args; /* of all operators, one after the other */
};

static inline const struct msd_graph *msd_graph_of(const struct msd_graph_instance *g)
{
	return &g->plan->graph;
}

/** All tensors of storage @s lie at @data from now on. */
void msd_graph_slot_point(struct msd_graph_instance *g, uint32_t s, void *data);
/** Memory of its own for storage @s; false: there is none. */
MSD_MUST_CHECK bool msd_graph_slot_fill(struct msd_graph_instance *g, uint32_t s);
void msd_graph_slot_drop(struct msd_graph_instance *g, uint32_t s);
/** Memory of its own, zeros when it is new: 0, or -1 with the error raised. */
int msd_graph_slot_own(struct msd_graph_instance *g, uint32_t s);
/**
 * Copy between the graph's device and the host, or within one: 0, or -1 with the error
 * raised. What goes to or comes from the host is done on return: its memory may change
 * next.
 */
int msd_graph_copy(const struct msd_graph_instance *g, void *dst, struct msd_device to,
		   const void *src, struct msd_device from, size_t n);

#endif
