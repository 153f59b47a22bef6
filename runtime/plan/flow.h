#ifndef MSD_RUNTIME_ENGINE_FLOW_H
#define MSD_RUNTIME_ENGINE_FLOW_H
/*
 * The graphs within a node (If, Loop, Scan), each with its own plan, and their input
 * and output values. Shapes inside are known only during a run: each is inferred from
 * the values of that iteration. Only the call's deadline limits the iterations of a
 * Loop, as for a compiled module.
 */
#include "graph/modser_graph.h"
#include "graph/op/flow/flow.h"
#include "proto/base/diag.h"
#include "proto/dtype.h"

struct msd_plan;

/* One tensor with borrowed bytes. */
struct msd_flow_value {
	struct msd_dtype dtype;
	size_t ndim;
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t bytes;
	const void *data; /* NULL: missing or empty */
	bool is_there;
};

struct msd_plan_input;
struct msd_allocator;

/* One graph of a node. */
struct msd_flow_graph {
	modser_graph *graph;
	struct msd_plan *plan;
	struct msd_plan_input *in; /* during a run: its inputs */
	modser_graph *outline; /* a view with shapes of no iteration; NULL: none yet */
};

struct msd_flow {
	const struct msd_flow_kernel *kernel;
	struct msd_flow_graph graphs[MSD_FLOW_GRAPHS];
	struct msd_flow_value *in; /* during a run: the node's inputs */
};

/* Arguments of a kernel for such a node. */
struct msd_flow_call {
	const modser_sg_node *node;
	struct msd_flow *flow;
	void **ret; /* a block per output; the plan takes ownership */
	const struct msd_allocator *allocator; /* of the blocks */
};

/* Kernel of one operator with graphs: a file in reference/, and a row in flow.c. */
struct msd_flow_kernel {
	const char *op;
	msd_err (*run)(const struct msd_flow_call *c, struct msd_diag *d);
};
extern const struct msd_flow_kernel msd_flow_if;
extern const struct msd_flow_kernel msd_flow_loop;
extern const struct msd_flow_kernel msd_flow_scan;

/** True if @node runs graphs. */
bool msd_flow_is(const modser_sg_node *node);
/**
 * Create plans for the graphs of the nodes of @g: in *@ret one flow for each node, NULL
 * for others. Destroy *@ret in any case.
 */
MSD_MUST_CHECK msd_err msd_flows_create(const modser_graph *g, struct msd_flow ***ret,
					struct msd_diag *d);
void msd_flows_destroy(struct msd_flow **flows, size_t n); /* NULL is fine */

/** Tensor @t, with its bytes at @data. */
struct msd_flow_value msd_flow_value_of(const modser_sg_tensor *t, const void *data);
/** A scalar; @data must outlive the value. */
struct msd_flow_value msd_flow_scalar(struct msd_dtype dtype, const void *data);
/** Check that @in has all inputs of @g. */
MSD_MUST_CHECK msd_err msd_flow_check_inputs(const struct msd_flow_graph *g,
					     const struct msd_flow_value *in,
					     struct msd_diag *d);
/** Run @g with the inputs @in. */
MSD_MUST_CHECK msd_err msd_flow_enter(struct msd_flow_graph *g,
				      const struct msd_flow_value *in,
				      struct msd_diag *d);
/** Output @i of the last run, valid until the next one. */
struct msd_flow_value msd_flow_output(const struct msd_flow_graph *g, size_t i);
/** Copy @v to output @i of the running node. */
MSD_MUST_CHECK msd_err msd_flow_give(const struct msd_flow_call *c, size_t i,
				     const struct msd_flow_value *v,
				     struct msd_diag *d);
/** Set the extents of the node's output @i; the caller writes its bytes to ret[@i]. */
MSD_MUST_CHECK msd_err msd_flow_make(const struct msd_flow_call *c, size_t i,
				     struct msd_dtype dtype, const int64_t *dims,
				     size_t ndim, struct msd_diag *d);
/** Read a condition: the single bool of @v. */
MSD_MUST_CHECK msd_err msd_flow_truth(const struct msd_flow_value *v, bool *ret,
				      struct msd_diag *d);

#endif
