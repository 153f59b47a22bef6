#include "daemon/supervisor/threads.h"

#include "daemon/log.h"
#include "proto/base/errno_text.h"

msd_err msd_threads_start(const struct msd_starter *starter, unsigned n_files,
			  struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];
	int error = starter->error;

	if (error == 0)
		error = msd_log_open();
	if (error == 0) {
		error = msd_work_open(MSD_WORK_INTERACTIVE, MSD_WORK_STAY_INTERACTIVE,
				      0);
	}
	if (error == 0)
		error = msd_work_open(MSD_WORK_BULK, MSD_WORK_STAY_BULK, n_files);
	if (error == 0) {
		error = msd_work_open(MSD_WORK_RELEASE, MSD_WORK_STAY_RELEASE,
				      MSD_WORK_MOST_RELEASE - MSD_WORK_STAY_RELEASE);
	}
	if (error == 0)
		return MSD_OK;
	return msd_diag_set(
		d, MSD_BUSY,
		"a thread cannot be started: %s; the daemon needs %u: end processes of "
		"this user, or raise its limit (" MSD_RAISE_PROCESSES ")",
		msd_errno_text(error, text), MSD_SUPERVISOR_THREADS);
}
