#ifndef MSD_RUNTIME_PLAN_PARTITION_H
#define MSD_RUNTIME_PLAN_PARTITION_H
/*
 * Order the nodes of a graph so that nodes of one engine follow each other, as far as
 * the edges allow. Nodes that follow each other in a valid order are convex: no path
 * between two of them leads through a node outside.
 */
#include "graph/modser_graph.h"
#include "proto/base/diag.h"

/**
 * @order is a valid order of the nodes of @g. @kind has by node the engine that may
 * join it, from 1 to @n_kinds; 0: it runs by itself. A group starts when no node of
 * kind 0 can run, and ends when no node of its kind can: no other order has fewer
 * groups if there is one kind of them. In a group, and between groups, nodes keep
 * their order.
 *
 * @ret_order gets the new order, and @ret_group by node its group, numbered from 1 in
 * that order; 0: none.
 */
MSD_MUST_CHECK msd_err msd_partition(const modser_graph *g, const size_t *order,
				     const size_t *kind, size_t n_kinds,
				     size_t *ret_order, size_t *ret_group,
				     size_t *ret_n_groups, struct msd_diag *d);

#endif
