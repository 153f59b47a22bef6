#include "daemon/child/ipc.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

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
	(void)setns(own, CLONE_NEWIPC); /* whoever could leave it may come back */
	(void)close(own);
}
