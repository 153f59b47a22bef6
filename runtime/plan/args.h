#ifndef MSD_RUNTIME_PLAN_ARGS_H
#define MSD_RUNTIME_PLAN_ARGS_H
/* The bindings of a run: its inputs, and the memory of its outputs. */
#include "graph/modser_graph.h"
#include "proto/dtype.h"

/* An input of a run. Its shape is read unless all shapes are known at load. */
struct msd_plan_input {
	const void *data; /* NULL: it is empty */
	const int64_t *dims;
	size_t ndim;
	struct msd_dtype dtype; /* read only for a graph within a node */
};

/* The arguments of a run. */
struct msd_plan_args {
	const struct msd_plan_input *inputs; /* in the graph's order */
	/*
	 * Return memory for output @i, a tensor like @t; NULL: memory is short. A run
	 * calls it once for each output; the last kernel writes there if no other
	 * kernel reads the tensor. NULL: the outputs stay in the plan's memory.
	 */
	void *(*make_output)(void *ctx, size_t i, const modser_sg_tensor *t);
	void *ctx;
};

#endif
