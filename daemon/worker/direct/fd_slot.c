#include "daemon/worker/direct/fd_slot.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/loop/closer.h"

/*
 * Move the socket to another number and close it on a thread, because close() may
 * sleep. If no number is free, it is closed here. Its number is never free: a file
 * opened by another thread could take it, and the next direct peer would replace that
 * file.
 */
static void close_transport(struct msd_transport *t)
{
	const struct msd_worker *w = t->state;
	const int moved = fcntl(t->fd, F_DUPFD_CLOEXEC, t->fd);

	(void)shutdown(t->fd, SHUT_RDWR);
	(void)dup3(w->artifact_fd, t->fd, O_CLOEXEC);
	msd_closer_close_socket(moved, t->passer);
	t->fd = -1;
}

bool msd_fd_slot_allocate(struct msd_worker *w, uint16_t number, int fd,
			  struct msd_transport *ret)
{
	static struct msd_transport_ops ops;
	const int kept = w->first_guest_fd + number - 1;

	*ret = msd_transport_of_socket(fd, true);
	if (w->first_guest_fd == 0)
		return true;
	if (dup3(fd, kept, O_CLOEXEC) < 0)
		return false;
	(void)close(fd);
	ops = *ret->ops;
	ops.close = close_transport;
	*ret = (struct msd_transport){
		.ops = &ops, .fd = kept, .may_pass_fds = true, .state = w};
	return true;
}
