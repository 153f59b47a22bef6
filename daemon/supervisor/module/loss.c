#include "daemon/supervisor/module/loss.h"

static const char *what(enum msd_loss loss, bool was_running)
{
	if (loss == MSD_LOSS_DEVICE)
		return "lost its device before this request";
	return was_running ? "died during this request"
			   : "died with this request sent to it, perhaps not begun";
}

void msd_loss_explain(const char *name, enum msd_loss loss, bool was_running,
		      const char *how, struct msd_diag *d)
{
	(void)msd_diag_set(d, loss == MSD_LOSS_DEVICE ? MSD_GPU_FAULT : MSD_WORKER_LOST,
			   "module %s: the worker %s (%s)", name,
			   what(loss, was_running), how);
}
