#ifndef MSD_SUPERVISOR_LOSS_H
#define MSD_SUPERVISOR_LOSS_H
/* Error texts for requests that a worker had when it was lost. */
#include "daemon/supervisor/module/life/life_table.h"
#include "proto/base/diag.h"

struct msd_lost {
	enum msd_loss loss;
	int signal;      /* signal that it died of; 0: none */
	const char *how; /* for error texts */
};

/**
 * Explain why the worker of the module @name did not answer a request: it was lost,
 * as in @lost. @was_running: the worker ran this request, not another one.
 */
void msd_loss_explain(const char *name, const struct msd_lost *lost, bool was_running,
		      struct msd_diag *d);

#endif
