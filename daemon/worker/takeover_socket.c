#include "daemon/worker/takeover_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/confine/process.h"
#include "daemon/worker/worker.h"

/*
 * Happy path: a channel arrives, and the old one is closed with all its objects. The
 * new one takes its descriptor number, because a sandbox allows no other to be waited
 * on. Failures: a message without a descriptor is ignored; if the new channel cannot
 * be opened, the process exits.
 */

static msd_err admit(struct msd_takeover_socket *door, struct msd_diag *d)
{
	struct msd_worker *w = door->worker;
	const int fd = dup3(door->next, w->channel_fd, O_CLOEXEC);

	(void)close(door->next);
	door->next = -1;
	if (fd < 0)
		return msd_diag_set(d, MSD_IO, "a channel: %s", strerror(errno));
	door->is_between = false;
	return msd_peer_open(w, fd, true, d);
}

static void admit_or_end(struct msd_takeover_socket *door)
{
	struct msd_diag d = {0};

	if (admit(door, &d) == MSD_OK)
		return;
	(void)fprintf(stderr, "modserd-worker: %s\n", msd_diag_text(&d));
	msd_confine_exit(1);
}

/* Keep the number in use until the next channel has it: other threads open files,
 * too. */
static void hold_number(const struct msd_worker *w)
{
	(void)dup3(w->artifact_fd, w->channel_fd, O_CLOEXEC);
}

static void take(struct msd_takeover_socket *door, int fd)
{
	if (door->next >= 0)
		(void)close(door->next);
	door->next = fd;
	if (door->is_between) {
		admit_or_end(door);
		return;
	}
	MSD_LIST_EACH (it, &door->worker->peers) {
		msd_conn_close(&MSD_CONTAINER_OF(it, struct msd_peer, link)->conn,
			       MSD_OK, "the next supervisor has started");
	}
}

static int receive(int door, bool *ret_is_end)
{
	char byte;
	struct iovec piece = {.iov_base = &byte, .iov_len = 1};
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr m = {.msg_iov = &piece,
			   .msg_iovlen = 1,
			   .msg_control = control.room,
			   .msg_controllen = sizeof(control.room)};
	const ssize_t n = recvmsg(door, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	int fd = -1;

	*ret_is_end = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
	if (c != NULL && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static void on_event(uv_poll_t *poll, int status, int events)
{
	struct msd_takeover_socket *door = poll->data;
	bool is_end;
	const int fd = receive(door->fd, &is_end);

	(void)status;
	(void)events;
	if (fd >= 0) {
		take(door, fd);
	} else if (is_end) {
		msd_confine_exit(0);
	}
}

msd_err msd_takeover_socket_open(struct msd_worker *w, uv_loop_t *loop, int fd,
				 struct msd_diag *d)
{
	struct msd_takeover_socket *door = &w->door;

	*door = (struct msd_takeover_socket){.worker = w, .fd = fd, .next = -1};
	if (fd < 0)
		return MSD_OK;
	const int rc = uv_poll_init(loop, &door->poll, fd);
	if (rc != 0) {
		return msd_diag_set(d, MSD_IO, "watching the takeover socket: %s",
				    uv_strerror(rc));
	}
	door->poll.data = door;
	(void)uv_poll_start(&door->poll, UV_READABLE, on_event);
	return MSD_OK;
}

/* A supervisor that has exited leaves an end of file, or a socket error if it had
 * unread bytes. A breach of the contract is different: it ends the worker. */
bool msd_takeover_socket_is_end(const struct msd_takeover_socket *door, msd_err err)
{
	return door->fd < 0 || door->worker->module == NULL ||
	       (err != MSD_OK && err != MSD_IO);
}

void msd_takeover_socket_on_closed(struct msd_takeover_socket *door)
{
	door->is_between = true;
	if (door->next >= 0) {
		admit_or_end(door);
	} else {
		hold_number(door->worker);
	}
}
