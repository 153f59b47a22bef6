#ifndef MSD_RUNTIME_EXECUTOR_GRAPH_PLAN_H
#define MSD_RUNTIME_EXECUTOR_GRAPH_PLAN_H
/*
 * Execution plan of a graph: its operators with their functions, the memory that its
 * entries share, its parameters. It is created once per module, constant, and shared
 * by all instances (run.h), so parameters are in memory once.
 */
#include "artifact/graph_json/graph.h"
#include "artifact/params/params.h"
#include "runtime/device/device.h"
#include "runtime/value/value.h"

enum msd_graph_role {
	MSD_GRAPH_WORK,   /* intermediate, between operators */
	MSD_GRAPH_PARAM,  /* constant */
	MSD_GRAPH_INPUT,  /* the caller's memory, unless an operator writes to it */
	MSD_GRAPH_OUTPUT, /* returned to the caller */
};

struct msd_graph_storage {
	enum msd_graph_role role;
	size_t bytes;
	bool is_written; /* by an operator */
	bool is_host;    /* its entries require the host, wherever the graph runs */
	void *data;      /* PARAM */
	struct msd_storage *own; /* PARAM: owner of data; NULL: the library */
};

struct msd_signature;

struct msd_graph_op {
	struct msd_function *fn; /* NULL: copy the input to the output */
	uint32_t node;
};

struct msd_graph_plan {
	struct msd_graph graph;
	struct msd_graph_storage *storages; /* graph.n_storages */
	struct msd_graph_op *ops;
	uint32_t n_ops;
	uint32_t *inputs; /* entries: graph.args except the parameters */
	uint32_t n_inputs;
	size_t n_args;       /* total of all operators */
	struct msd_dev *dev; /* device of its storages; NULL: the host; borrowed */
};

/* Finds functions for the operators, including "_lookup_linked_param". */
struct msd_graph_finder {
	struct msd_function *(*find)(void *ctx, const char *name);
	void *ctx;
};

/**
 * Plan @graph; ownership moves only on success. @params (NULL: none) are copied;
 * unknown names are ignored. Missing functions are appended to @missing with their
 * nodes, separated by ", "; such a plan must not be run. The caller owns *@ret.
 * Errors: MSD_BAD_ARTIFACT, MSD_CALL_FAILED (of the lookup of linked parameters),
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_graph_plan_create(struct msd_graph *graph,
					     const struct msd_params *params,
					     struct msd_graph_finder finder,
					     struct msd_buf *missing,
					     struct msd_graph_plan **ret,
					     struct msd_diag *d);
void msd_graph_plan_destroy(struct msd_graph_plan *p); /* NULL is fine */
/**
 * Compare the operators with the known signatures of their functions (check.c).
 * MSD_BAD_ARTIFACT names the node, its function and the argument.
 */
MSD_MUST_CHECK msd_err msd_graph_plan_check(const struct msd_graph_plan *p,
					    struct msd_diag *d);
/** The signature of one call of the whole graph (about.c). Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_graph_plan_signature(const struct msd_graph_plan *p,
						struct msd_signature *ret,
						struct msd_diag *d);
/**
 * The parameters as pairs of name and tensor, without a copy: 0, or -1 with the error
 * raised.
 */
int msd_graph_plan_list_params(const struct msd_graph_plan *p, struct msd_any *ret);
/**
 * The first device type in the graph other than the host's and @type; 0 if there is
 * none.
 */
int32_t msd_graph_plan_other_device(const struct msd_graph_plan *p, int32_t type);
/**
 * Move the graph to @dev, which must stay open (place.c). Parameters move now, other
 * storages when instances are created; no instance may exist yet. Errors: MSD_NOMEM,
 * the device's.
 */
MSD_MUST_CHECK msd_err msd_graph_plan_place(struct msd_graph_plan *p,
					    struct msd_dev *dev, struct msd_diag *d);
/** The device of storage @s; NULL: the host. */
static inline struct msd_dev *msd_graph_plan_dev(const struct msd_graph_plan *p,
						 uint32_t s)
{
	return p->storages[s].is_host ? NULL : p->dev;
}

/** Fill PARAM storages (params.c). */
MSD_MUST_CHECK msd_err msd_graph_plan_params(struct msd_graph_plan *p,
					     const struct msd_params *params,
					     struct msd_graph_finder finder,
					     struct msd_diag *d);

#endif
