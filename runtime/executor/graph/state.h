#ifndef MSD_RUNTIME_EXECUTOR_GRAPH_STATE_H
#define MSD_RUNTIME_EXECUTOR_GRAPH_STATE_H
/* A graph executor as in TVM: an instance of the graph with set_input, run,
 * get_output and the other functions of TVM's executor. */
#include "runtime/executor/graph/plan.h"
#include "runtime/module/instance.h"

/** @plan must outlive *@ret. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_graph_state_create(const struct msd_graph_plan *plan,
					      struct msd_instance **ret,
					      struct msd_diag *d);

#endif
