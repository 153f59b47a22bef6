#ifndef MSD_RUNTIME_ENGINE_OUTLINE_H
#define MSD_RUNTIME_ENGINE_OUTLINE_H
/* The shapes that a graph within a node would give, for a Loop or Scan without a turn.
 */
#include "runtime/engine/flow.h"

/**
 * Infer the graph of @g from @in, without a run. Values are computed where they are
 * small and there, as a shape that the graph makes of a shape is; a value that is not
 * there counts as zeros where a shape follows from it. The tensors of the graph have
 * the shapes until its next run; one that does not follow is not known (-1).
 */
MSD_MUST_CHECK msd_err msd_outline_find(const struct msd_flow_graph *g,
					const struct msd_flow_value *in,
					struct msd_diag *d);
/** Output @i of @g, without bytes, after that: what does not follow is as the file
 * says. */
struct msd_flow_value msd_outline_output(const struct msd_flow_graph *g, size_t i);

#endif
