#ifndef MSD_RUNTIME_EXECUTOR_STATIC_GRAPH_STATE_H
#define MSD_RUNTIME_EXECUTOR_STATIC_GRAPH_STATE_H
/* A framework's model with TVM's functions: set_input, run, get_output and the other
 * ones of executor.h. */
#include "runtime/executor/static_graph/model.h"
#include "runtime/module/instance.h"

/** @model must outlive *@ret. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_static_state_create(struct msd_static_model *model,
					       struct msd_instance **ret,
					       struct msd_diag *d);

#endif
