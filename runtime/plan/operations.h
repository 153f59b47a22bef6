#ifndef MSD_RUNTIME_PLAN_OPERATIONS_H
#define MSD_RUNTIME_PLAN_OPERATIONS_H
#include "graph/modser_graph.h"

/**
 * The multiplications and additions of @node, whose shapes are known: a convolution, a
 * product of matrices, or a recurrent layer. 0: another operator, which memory limits
 * more than arithmetic.
 */
uint64_t msd_plan_operations(const modser_sg_node *node);

#endif
