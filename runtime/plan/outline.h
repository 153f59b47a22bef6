#ifndef MSD_RUNTIME_ENGINE_OUTLINE_H
#define MSD_RUNTIME_ENGINE_OUTLINE_H
/* Output shapes of a graph within a node, inferred for a Loop or Scan with zero
 * iterations. */
#include "runtime/plan/flow.h"

/**
 * Infer the graph of @g from @in, without a run. Small known values are computed, for
 * example a shape that the graph derives from a shape. If a shape depends on a value
 * that is missing, the value counts as zeros. A view of the graph keeps the shapes
 * until the next call; extents that cannot be inferred are unknown (-1).
 */
MSD_MUST_CHECK msd_err msd_outline_find(struct msd_flow_graph *g,
					const struct msd_flow_value *in,
					struct msd_diag *d);
/**
 * Output @i of @g after that, without bytes; extents that cannot be inferred are as
 * in the file.
 */
struct msd_flow_value msd_outline_output(const struct msd_flow_graph *g, size_t i);

#endif
