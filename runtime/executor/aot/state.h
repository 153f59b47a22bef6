#ifndef MSD_RUNTIME_EXECUTOR_AOT_STATE_H
#define MSD_RUNTIME_EXECUTOR_AOT_STATE_H
/* An executor of an ahead-of-time compiled model as in TVM: set_input, run,
 * get_output and the other functions of executor.h. */
#include "runtime/executor/aot/run.h"
#include "runtime/module/instance.h"

/** @aot must outlive *@ret. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_aot_state_create(struct msd_aot *aot,
					    struct msd_instance **ret,
					    struct msd_diag *d);

#endif
