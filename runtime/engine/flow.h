#ifndef MSD_RUNTIME_ENGINE_FLOW_H
#define MSD_RUNTIME_ENGINE_FLOW_H
/*
 * The graphs within a node (If, Loop, Scan), each with a plan of its own, and the
 * values that go into and come out of them. Shapes inside are known in a run alone:
 * each is inferred from the values of that turn. How often a Loop turns is bounded by
 * the call's deadline alone, as what a compiled module does is.
 */
#include "graph/modser_graph.h"
#include "graph/op/flow.h"
#include "proto/diag.h"
#include "proto/dtype.h"

struct msd_plan;

/* One tensor, whose bytes are somebody else's. */
struct msd_flow_value {
	struct msd_dtype dtype;
	size_t ndim;
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t bytes;
	const void *data; /* NULL: there is none, or it is empty */
	bool is_there;
};

/* One graph of a node. */
struct msd_flow_graph {
	modser_graph *graph;
	struct msd_plan *plan;
	struct msd_flow_value *outputs; /* as the file says: extents may be -1 */
};

struct msd_flow {
	const struct msd_flow_kernel *kernel;
	struct msd_flow_graph graphs[MSD_FLOW_GRAPHS];
	struct msd_flow_value *in; /* of a run: the node's inputs */
};

/* What a kernel of such a node is called with. */
struct msd_flow_call {
	const modser_sg_node *node;
	struct msd_flow *flow;
	void **ret; /* for each output memory of malloc(), which becomes the plan's */
};

/* How nodes of one operator run theirs: a file in reference/, and a row in flow.c. */
struct msd_flow_kernel {
	const char *op;
	msd_err (*run)(const struct msd_flow_call *c, struct msd_diag *d);
};
extern const struct msd_flow_kernel msd_flow_if;
extern const struct msd_flow_kernel msd_flow_loop;
extern const struct msd_flow_kernel msd_flow_scan;

/** Does @node run graphs? */
bool msd_flow_is(const modser_sg_node *node);
/** Plans for the graphs of such a node. On failure *@ret is NULL. */
MSD_MUST_CHECK msd_err msd_flow_create(const modser_sg_node *node,
				       struct msd_flow **ret, struct msd_diag *d);
void msd_flow_destroy(struct msd_flow *f); /* NULL is fine */

/** Tensor @t, whose bytes are at @data. */
struct msd_flow_value msd_flow_value_of(const modser_sg_tensor *t, const void *data);
/** A scalar, which outlives the value. */
struct msd_flow_value msd_flow_scalar(struct msd_dtype dtype, const void *data);
/** The inputs of @g get the shapes and dtypes of @in. */
MSD_MUST_CHECK msd_err msd_flow_set_inputs(const struct msd_flow_graph *g,
					   const struct msd_flow_value *in,
					   struct msd_diag *d);
/** Run @g from its inputs @in. */
MSD_MUST_CHECK msd_err msd_flow_enter(struct msd_flow_graph *g,
				      const struct msd_flow_value *in,
				      struct msd_diag *d);
/** Output @i of the last run, until the next one. */
struct msd_flow_value msd_flow_output(const struct msd_flow_graph *g, size_t i);
/** Let @v, copied, be output @i of the node that is run. */
MSD_MUST_CHECK msd_err msd_flow_give(const struct msd_flow_call *c, size_t i,
				     const struct msd_flow_value *v,
				     struct msd_diag *d);
/** The node's output @i has these extents; its bytes are to be put into ret[@i]. */
MSD_MUST_CHECK msd_err msd_flow_make(const struct msd_flow_call *c, size_t i,
				     struct msd_dtype dtype, const int64_t *dims,
				     size_t ndim, struct msd_diag *d);
/** Whether a condition holds: the one bool of @v. */
MSD_MUST_CHECK msd_err msd_flow_truth(const struct msd_flow_value *v, bool *ret,
				      struct msd_diag *d);

#endif
