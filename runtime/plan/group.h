#ifndef MSD_RUNTIME_PLAN_GROUP_H
#define MSD_RUNTIME_PLAN_GROUP_H
/*
 * The nodes of a graph with known shapes that engines run as one. Nodes of an engine
 * that can join are brought together (partition.h), and the engine is asked for each
 * group of at least two.
 */
#include <modserd_plugin.h>

#include "graph/modser_graph.h"
#include "proto/base/diag.h"
#include "runtime/engine/engine.h"

struct msd_graph_program;

/* Nodes that their engine has joined. */
struct msd_group {
	modserd_group told; /* the engine reads it until it leaves */
	const modser_sg_node **nodes;
	const modser_sg_tensor **inputs, **outputs;
	const struct msd_engine *engine;
	void *state;
	struct msd_engine_node step; /* runs the group as if it were a node */
};

struct msd_groups {
	const struct msd_engine_node **by; /* by node: runs it alone; NULL: none does */
	const size_t *order;               /* of all nodes */
	const size_t *last;                /* by tensor: as in program.h */
	/* By node, and NULL without groups: */
	struct msd_group **of; /* its group, or NULL */
	size_t *row; /* its place among the nodes that run, in the program's order */
	struct msd_group *items;
	size_t n;
	size_t *own_order, *own_last; /* NULL: order and last are the program's */
};

/**
 * Choose the engines of all nodes of @g, a graph or view of @p with all shapes known,
 * and let them join groups. A tensor within a group has MSD_ARENA_NOWHERE as its last
 * step; the other tensors of a group live until its last step. Finish @s in any case,
 * before @g and the claims are.
 */
MSD_MUST_CHECK msd_err msd_groups_init(struct msd_groups *s,
				       struct msd_graph_program *p,
				       const modser_graph *g, struct msd_diag *d);
void msd_groups_finish(struct msd_groups *s);
/** The group of @node; NULL: it has none. */
const struct msd_group *msd_groups_find(const struct msd_groups *s,
					const modser_sg_node *node);
/** The error of a group's step. */
msd_err msd_group_blame(const struct msd_group *group, msd_err err, struct msd_diag *d);

#endif
