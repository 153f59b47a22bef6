#ifndef MSD_RUNTIME_EXECUTOR_GRAPH_STATE_H
#define MSD_RUNTIME_EXECUTOR_GRAPH_STATE_H
/* A graph executor as TVM has it: an instance of the graph with set_input, run,
 * get_output and what else code written against one looks for. */
#include "runtime/executor/graph/plan.h"
#include "runtime/module/instance.h"

/** @plan must outlive *@ret. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_graph_state_create(const struct msd_graph_plan *plan,
					      struct msd_instance **ret,
					      struct msd_diag *d);

#endif
