#include "daemon/supervisor/rpc/tracker_connect.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "proto/base/errno_text.h"

/* A dropped attempt may hang: then the next one waits for its thread. */
static struct msd_work_lane lane = MSD_WORK_LANE(lane, MSD_WORK_BULK, 1, 0);

/* Connect to one address within the time. Returns 0, or an errno. */
static int connect_to(struct msd_tracker_attempt *a, const struct addrinfo *to)
{
	const struct timeval most = {.tv_sec = (time_t)(a->wait_ms / 1000),
				     .tv_usec =
					     (suseconds_t)(a->wait_ms % 1000 * 1000)};
	const int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int one = 1;

	if (fd < 0)
		return errno;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most)) == 0 &&
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0 &&
	    connect(fd, to->ai_addr, to->ai_addrlen) == 0 &&
	    fcntl(fd, F_SETFL, O_NONBLOCK) == 0) {
		a->fd = fd;
		return 0;
	}
	const int error = errno == EINPROGRESS ? ETIMEDOUT : errno;
	(void)close(fd);
	return error;
}

static void run(struct msd_work *w)
{
	struct msd_tracker_attempt *a =
		MSD_CONTAINER_OF(w, struct msd_tracker_attempt, work);
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_NUMERICSERV};
	char port[8], text[MSD_ERRNO_TEXT_BYTES];
	struct addrinfo *all;
	int error = 0;

	(void)snprintf(port, sizeof(port), "%u", a->address.port);
	const int rc = getaddrinfo(a->address.host, port, &hints, &all);
	if (rc != 0) {
		(void)snprintf(a->why, sizeof(a->why), "%s", gai_strerror(rc));
		return;
	}
	for (const struct addrinfo *to = all; to != NULL && a->fd < 0; to = to->ai_next)
		error = connect_to(a, to);
	freeaddrinfo(all);
	(void)snprintf(a->why, sizeof(a->why), "%s", msd_errno_text(error, text));
}

static void destroy(struct msd_tracker_attempt *a)
{
	if (a->fd >= 0)
		(void)close(a->fd);
	free(a);
}

static void done(struct msd_work *w)
{
	struct msd_tracker_attempt *a =
		MSD_CONTAINER_OF(w, struct msd_tracker_attempt, work);

	a->on_end(a);
	destroy(a);
}

static void dropped(struct msd_work *w)
{
	destroy(MSD_CONTAINER_OF(w, struct msd_tracker_attempt, work));
}

struct msd_tracker_attempt *
msd_tracker_attempt_begin(uv_loop_t *loop, const struct msd_address *address,
			  uint64_t wait_ms,
			  void (*on_end)(struct msd_tracker_attempt *a), void *user)
{
	struct msd_tracker_attempt *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return NULL;
	a->work.run = run;
	a->work.done = done;
	a->work.lane = &lane;
	a->address = *address;
	a->wait_ms = wait_ms;
	a->on_end = on_end;
	a->user = user;
	a->fd = -1;
	msd_work_begin(loop, &a->work);
	return a;
}

void msd_tracker_attempt_drop(struct msd_tracker_attempt *a)
{
	msd_work_leave(&a->work, dropped);
}
