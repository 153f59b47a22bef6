#include "daemon/supervisor/module/workers/loss.h"

#include <signal.h>

static const char *what(enum msd_loss loss, bool was_running)
{
	if (loss == MSD_LOSS_DEVICE)
		return "lost its device before this request";
	return was_running ? "died during this request"
			   : "died after it received this request, which may not have "
			     "started";
}

/* Faulty code raises these signals itself: division by zero, an invalid pointer,
 * abort(). */
static bool is_of_code(int signal)
{
	return signal == SIGFPE || signal == SIGSEGV || signal == SIGILL ||
	       signal == SIGBUS || signal == SIGABRT;
}

static void explain_death(const char *name, const struct msd_lost *lost,
			  bool was_running, struct msd_diag *d)
{
	const bool is_input =
		was_running && lost->loss == MSD_LOSS_DEATH && is_of_code(lost->signal);

	(void)msd_diag_set(
		d, lost->loss == MSD_LOSS_DEVICE ? MSD_GPU_FAULT : MSD_WORKER_LOST,
		"module %s: the worker %s (%s)%s", name, what(lost->loss, was_running),
		lost->how,
		is_input
			? ": the function's code died, and its input may have caused it"
			: "");
	if (is_input) {
		d->hint = "check the input: a division by zero, an index or an extent "
			  "out of bounds; `modser logs NAME` may say more";
	}
}

void msd_loss_explain(const char *name, const struct msd_lost *lost, bool was_running,
		      struct msd_diag *d)
{
	if (was_running && lost->loss == MSD_LOSS_TOO_LONG) {
		(void)msd_diag_set(d, MSD_DEADLINE,
				   "module %s: the call was ended with its worker (%s)",
				   name, lost->how);
		d->hint = "if it hangs, see `modser logs NAME`; if it is slow, "
			  "load the module with --max-run TIME or --max-run unlimited";
	} else if (was_running && lost->loss == MSD_LOSS_IN_WAY) {
		(void)msd_diag_set(
			d, MSD_CANCELLED,
			"module %s: cancelled, and ended with its worker (%s)", name,
			lost->how);
	} else {
		explain_death(name, lost, was_running, d);
	}
}
