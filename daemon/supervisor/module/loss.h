#ifndef MSD_SUPERVISOR_LOSS_H
#define MSD_SUPERVISOR_LOSS_H
/* What is told of requests that a worker had when it was lost. */
#include "daemon/supervisor/module/life_table.h"
#include "proto/diag.h"

struct msd_lost {
	enum msd_loss loss;
	int signal;      /* of one that died of it; 0: of none */
	const char *how; /* for people */
};

/** Why a request that the module @name's worker had was not answered: that is lost, as
 * @lost says. The one that it ran, if @was_running, or another. */
void msd_loss_explain(const char *name, const struct msd_lost *lost, bool was_running,
		      struct msd_diag *d);

#endif
