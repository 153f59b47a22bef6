#include "daemon/supervisor/edge/listen/sandboxed_peer.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/mark.h"
#include "daemon/stream/transport.h"
#include "daemon/supervisor/edge/counts.h"

/* Since Linux 6.5; some system headers are older. */
#define PEER_PIDFD 77
#define LINES_PER_SECOND 1u

/* Open a pidfd, which keeps the PID of the peer of @fd from being reused. False: the
 * PID was reused already. */
static bool hold(int fd, int *ret)
{
	socklen_t n = sizeof(*ret);

	*ret = -1;
	return getsockopt(fd, SOL_SOCKET, PEER_PIDFD, ret, &n) == 0 ||
	       errno == ENOPROTOOPT || errno == EMFILE || errno == ENFILE;
}

/* Close the pidfd. True if the PID was valid all the time. A zombie process keeps its
 * PID, too. */
static bool let_go(int held)
{
	const bool is_there =
		syscall(SYS_pidfd_send_signal, held, 0, NULL, 0) == 0 || errno != ESRCH;

	(void)close(held);
	return is_there;
}

/* True if the peer closed its end: for example a client that waited for a stopped
 * daemon and gave up. */
static bool has_left(int fd)
{
	struct pollfd p = {.fd = fd};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLHUP) != 0;
}

enum msd_connected msd_sandboxed_peer_look(int fd)
{
	struct ucred who;
	socklen_t n = sizeof(who);
	bool is_confined = false;
	int held;

	/* A process in a namespace that is not visible from here is not a child of
	 * the daemon. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0 || who.pid <= 0)
		return MSD_CONNECTED_FREE;
	bool is_known = hold(fd, &held);
	is_known = is_known && msd_mark_is_confined(who.pid, &is_confined);
	if (held >= 0)
		is_known = let_go(held) && is_known;
	if (is_known)
		return is_confined ? MSD_CONNECTED_CONFINED : MSD_CONNECTED_FREE;
	if (who.uid != geteuid())
		return MSD_CONNECTED_FREE;
	return has_left(fd) ? MSD_CONNECTED_LEFT : MSD_CONNECTED_CONFINED;
}

void msd_sandboxed_peer_refuse(struct msd_edge *e, int fd)
{
	uint64_t n_others;

	struct msd_transport unheard = msd_transport_of_socket(fd, true);

	unheard.ops->close(&unheard); /* it may hold passed descriptors already */
	msd_counts_refused(&e->counts, MSD_REFUSAL_CONFINED);
	if (msd_log_rate_allow(&e->confined, uv_now(e->loop), LINES_PER_SECOND,
			       &n_others)) {
		msd_log(MSD_LOG_WARN, "connection_sandboxed",
			"others=%llu why=\"a module in a sandbox connected to the "
			"daemon, or a process that ended at once: load a module that "
			"calls the daemon with sandbox=trusted (a client under ulimit "
			"-q 0 or LimitMSGQUEUE=0 looks the same: give it 1)\"",
			(unsigned long long)n_others);
	}
}
