#ifndef MSD_SUPERVISOR_LOSS_H
#define MSD_SUPERVISOR_LOSS_H
/* What is told of requests that a worker had when it was lost. */
#include "daemon/supervisor/module/life_table.h"
#include "proto/diag.h"

/** Why a request that the module @name's worker had was not answered: that is lost as
 * @loss, @how. The one that it ran, if @was_running, or another. */
void msd_loss_explain(const char *name, enum msd_loss loss, bool was_running,
		      const char *how, struct msd_diag *d);

#endif
