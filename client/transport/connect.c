/* Happy path: the socket is made non-blocking and connected within the caller's
 * deadline. For TCP, each address of the host is tried until one accepts. */
#include "client/transport/connect.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/client.h"
#include "client/transport/tls.h"
#include "proto/base/clock.h"
#include "proto/body.h"
#include "proto/frame.h"

/* Wait for a connect() in progress. Returns 0 or an errno. */
static int wait_connected(int fd, uint64_t deadline_ns)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	socklen_t len = sizeof(int);
	int error = 0;
	int n;

	do {
		n = poll(&p, 1, msd_poll_ms(deadline_ns));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno;
	if (n == 0)
		return ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		return errno;
	return error;
}

/* Returns 0 and *ret_fd, or an errno. */
static int try_connect(const struct sockaddr *sa, socklen_t len, uint64_t deadline_ns,
		       int *ret_fd)
{
	int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error = 0;

	if (fd < 0)
		return errno;
	if (connect(fd, sa, len) != 0)
		error = errno;
	/* EAGAIN: the queue of a unix listener is full; no event reports that it has
	 * room again. */
	while (error == EAGAIN && msd_poll_ms(deadline_ns) != 0) {
		(void)poll(NULL, 0, 1);
		error = connect(fd, sa, len) != 0 ? errno : 0;
	}
	if (error == EINPROGRESS || error == EINTR)
		error = wait_connected(fd, deadline_ns);
	if (error == 0) {
		*ret_fd = fd;
		return 0;
	}
	(void)close(fd);
	return error;
}

static msd_err connect_unix(const struct msd_address *a, uint64_t deadline_ns,
			    int *ret_fd, char hint[static MSD_HINT_MAX],
			    struct msd_diag *d)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int error;

	memcpy(un.sun_path, a->path, strlen(a->path) + 1);
	error = try_connect((const struct sockaddr *)(const void *)&un, sizeof(un),
			    deadline_ns, ret_fd);
	return error == 0 ? MSD_OK : msd_cause_of(a, error, hint, d);
}

static msd_err connect_tcp(const struct msd_address *a, uint64_t deadline_ns,
			   int *ret_fd, char hint[static MSD_HINT_MAX],
			   struct msd_diag *d)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	char port[8];
	int on = 1;
	int error = EADDRNOTAVAIL;

	(void)snprintf(port, sizeof(port), "%u", a->port);
	int failed = getaddrinfo(a->host, port, &hints, &found);
	if (failed != 0)
		return msd_cause_of_name(a, failed, hint, d);
	for (struct addrinfo *at = found; at != NULL && error != 0; at = at->ai_next)
		error = try_connect(at->ai_addr, at->ai_addrlen, deadline_ns, ret_fd);
	freeaddrinfo(found);
	if (error != 0)
		return msd_cause_of(a, error, hint, d);
	/* Without this, a small request may wait for the answer to the previous one. */
	(void)setsockopt(*ret_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return MSD_OK;
}

static msd_err connect_to(const struct msd_address *a, uint64_t deadline_ns,
			  int *ret_fd, char hint[static MSD_HINT_MAX],
			  struct msd_diag *d)
{
	if (a->kind == MSD_ADDRESS_UNIX)
		return connect_unix(a, deadline_ns, ret_fd, hint, d);
	return connect_tcp(a, deadline_ns, ret_fd, hint, d);
}

/*
 * The daemon closes a connection that sends no complete frame for some time, and the
 * client may send its first request much later. Therefore send a cancel of no
 * request. A new socket has room for it; a later call reports a broken socket.
 */
static void send_first_frame(int fd, struct msd_client_tls *tls)
{
	struct msd_buf b = {0};
	uint8_t head[MSD_FRAME_HEADER_BYTES] = {0};

	msd_buf_put(&b, head, sizeof(head));
	msd_body_begin_notification(&b, "cancel");
	msd_pack_array(&b, 1);
	msd_pack_uint(&b, 0);
	if (!b.bad) {
		msd_frame_write((struct msd_frame){(uint32_t)(b.n - sizeof(head)), 0},
				b.p);
		if (tls != NULL) {
			(void)msd_client_tls_write(tls, &(struct iovec){b.p, b.n}, 1);
		} else {
			(void)send(fd, b.p, b.n, MSG_DONTWAIT | MSG_NOSIGNAL);
		}
	}
	msd_buf_finish(&b);
}

/* For a connected socket: do the TLS handshake if the address requires it. */
static msd_err encrypt(const struct msd_address *a, int fd, uint64_t deadline_ns,
		       struct msd_client_tls **ret, char hint[static MSD_HINT_MAX],
		       struct msd_diag *d)
{
	struct msd_address plain = *a;
	char text[MSD_ADDRESS_TEXT_MAX];

	if (a->kind != MSD_ADDRESS_TLS)
		return MSD_OK;
	msd_err err = msd_client_tls_open(fd, a->host, deadline_ns, ret, d);
	if (err == MSD_OK)
		return MSD_OK;
	(void)close(fd);
	plain.kind = MSD_ADDRESS_TCP;
	if (err == MSD_PROTOCOL) {
		(void)snprintf(hint, MSD_HINT_MAX,
			       "use %s, or let the daemon listen there with tls://",
			       msd_address_format(&plain, text));
	}
	return msd_diag_wrap(d, err, "connect to %s", msd_address_format(a, text));
}

msd_err msd_client_connect(const struct msd_address *a, uint64_t deadline_ns,
			   modser_client **ret, char hint[static MSD_HINT_MAX],
			   struct msd_diag *d)
{
	char address[MSD_ADDRESS_TEXT_MAX];
	struct msd_client_tls *tls = NULL;
	modser_client *c;
	int fd = -1;

	msd_err err = connect_to(a, deadline_ns, &fd, hint, d);
	if (err == MSD_OK)
		err = encrypt(a, fd, deadline_ns, &tls, hint, d);
	if (err != MSD_OK)
		return err;
	send_first_frame(fd, tls);
	err = (msd_err)modser_open_fd(fd, &c);
	if (err != MSD_OK) {
		msd_client_tls_close(tls);
		return err;
	}
	c->tls = tls;
	c->address = strdup(msd_address_format(a, address));
	if (tls != NULL && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) {
		modser_close(c);
		return msd_diag_set(d, MSD_IO, "%s", strerror(errno));
	}
	*ret = c;
	return MSD_OK;
}
