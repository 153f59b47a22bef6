#include "daemon/child/ipc.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "daemon/log.h"
#include "proto/errno_text.h"

int msd_ipc_enter(void)
{
	const int own = open("/proc/thread-self/ns/ipc", O_RDONLY | O_CLOEXEC);

	/* Without a way back the daemon would keep the child's alive. */
	if (own >= 0 && unshare(CLONE_NEWIPC) != 0) {
		(void)close(own);
		return -1;
	}
	return own;
}

void msd_ipc_leave(int own)
{
	if (own < 0)
		return;
	/* Whoever could leave it may come back; who does not stays in the child's, and
	 * keeps alive what is in it. */
	if (setns(own, CLONE_NEWIPC) != 0) {
		char text[MSD_ERRNO_TEXT_BYTES];

		msd_log(MSD_LOG_ERROR, "ipc", "back=no why=\"%s\"",
			msd_errno_text(errno, text));
	}
	(void)close(own);
}
