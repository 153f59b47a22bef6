/*
 * Listening sockets.
 *
 * Happy path: open binds the address, adopt takes a bound socket (listen_socket.h for
 * both). Each connection is accepted, gets its socket options and passes through the
 * PROXY and accept stages.
 *
 * Failures: without a socket the listener is not opened. If no descriptor is left, or
 * on any other fault, accepting pauses, because the loop would report the same
 * connection again and again.
 */
#include "daemon/supervisor/edge/listen/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/loop/closer.h"
#include "daemon/supervisor/edge/listen/accept.h"
#include "daemon/supervisor/edge/listen/listen_socket.h"
#include "daemon/supervisor/edge/listen/proxy_accept.h"
#include "daemon/supervisor/edge/listen/sandboxed_peer.h"
#include "proto/base/errno_text.h"

#define ACCEPTS_PER_TURN 8 /* each creates a session */
/* Idle time before the first keepalive probe of a TCP peer, and the interval between
 * probes. The kernel sends nine probes by default. */
#define KEEPALIVE_IDLE_S 60
#define KEEPALIVE_EVERY_S 10
#define PAUSE_MS 100u       /* pause of accepting after a fault */
#define BEHIND_MS 5u        /* pause while the closer thread is behind */
#define FAULTS_PER_SECOND 1 /* log lines about faults */
/* Send buffer of a unix socket, up to the system's maximum: a tensor is sent in fewer
 * loop iterations. The kernel allocates memory only for unread bytes. */
#define SEND_BUFFER_BYTES (512 * 1024)

static void accept_some(struct msd_listener *l);

static void on_readable(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	accept_some(poll->data);
}

static void on_retry(uv_timer_t *timer)
{
	struct msd_listener *l = timer->data;

	(void)uv_poll_start(&l->poll, UV_READABLE, on_readable);
}

/* A peer whose machine or network failed sends no FIN, so the kernel probes it. */
static void keep_alive(int fd)
{
	const int one = 1, idle_s = KEEPALIVE_IDLE_S, every_s = KEEPALIVE_EVERY_S;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof(every_s));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
}

static void set_options(int fd, enum msd_address_kind kind)
{
	const int one = 1, bytes = SEND_BUFFER_BYTES;

	if (kind != MSD_ADDRESS_UNIX) { /* replies are whole frames; TCP buffers grow by
					   themselves */
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		keep_alive(fd);
	} else {
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	}
}

static void rest(struct msd_listener *l, uint64_t ms)
{
	(void)uv_poll_stop(&l->poll);
	(void)uv_timer_start(&l->retry, on_retry, ms, 0);
}

/* A connection that cannot be accepted stays in the queue, and the loop would report
 * it again and again. */
static void pause_accepting(struct msd_listener *l, int error)
{
	char text[MSD_ERRNO_TEXT_BYTES];
	uint64_t n_others;

	if (msd_log_rate_allow(&l->faults, uv_now(l->edge->loop), FAULTS_PER_SECOND,
			       &n_others)) {
		msd_log(MSD_LOG_WARN, "listener_accept", "others=%llu why=\"%s\"",
			(unsigned long long)n_others, msd_errno_text(error, text));
	}
	rest(l, PAUSE_MS);
}

/* No connection waits (any more), or a signal arrived. */
static bool is_passing(int error)
{
	return error == EAGAIN || error == ECONNABORTED || error == EINTR;
}

/* False: no connection was accepted; errno says why. */
static bool accept_one(struct msd_listener *l, struct msd_principal who)
{
	struct msd_edge *e = l->edge;
	const int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return false;
	const enum msd_connected has_come =
		who.is_local ? msd_sandboxed_peer_look(fd) : MSD_CONNECTED_FREE;
	if (has_come == MSD_CONNECTED_CONFINED) {
		msd_sandboxed_peer_refuse(e, fd);
	} else if (has_come == MSD_CONNECTED_LEFT) {
		msd_accept_reject(fd); /* no peer is left to get a message */
	} else {
		set_options(fd, l->address.kind);
		msd_proxy_accept_enter(e, fd, who, &l->way);
	}
	return true;
}

static void accept_some(struct msd_listener *l)
{
	const struct msd_principal who =
		msd_principal_of(l->address.kind, l->edge->load_tcp);

	for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
		if (who.is_local && msd_closer_is_behind()) {
			rest(l, BEHIND_MS); /* rejected connections would add more work
					       for the closer thread */
			return;
		}
		if (accept_one(l, who))
			continue;
		if (!is_passing(errno))
			pause_accepting(l, errno);
		return;
	}
}

/*
 * For the client, a connection in the backlog is open already. Closing the socket
 * would reset it without a message. Connections of an inherited socket wait for the
 * next daemon.
 */
static void accept_rest(struct msd_listener *l)
{
	const struct msd_principal who =
		msd_principal_of(l->address.kind, l->edge->load_tcp);

	if (l->address.kind == MSD_ADDRESS_UNIX) /* new connections are refused */
		(void)shutdown(l->fd, SHUT_RD);
	while (accept_one(l, who))
		continue;
}

/* Format the address for people: tcp://HOST:PORT, SCHEME://HOST:PORT,
 * SCHEMEs://HOST:PORT, SCHEME+unix:PATH. */
static void write_text(struct msd_listener *l)
{
	const enum msd_address_kind kind = l->address.kind;
	char text[MSD_ADDRESS_TEXT_MAX];

	(void)msd_address_format(&l->address, text);
	if (l->scheme == NULL) {
		(void)snprintf(l->listening.text, sizeof(l->listening.text), "%s",
			       text);
		return;
	}
	(void)snprintf(l->listening.text, sizeof(l->listening.text), "%s%s%s",
		       l->scheme,
		       kind == MSD_ADDRESS_UNIX  ? "+"
		       : kind == MSD_ADDRESS_TLS ? "s"
						 : "",
		       kind == MSD_ADDRESS_UNIX ? text : strchr(text, ':'));
}

static bool find_file(const struct msd_listener *l, struct stat *ret)
{
	return l->address.kind == MSD_ADDRESS_UNIX && !l->is_inherited &&
	       lstat(l->address.path, ret) == 0;
}

/* Another program may have replaced the file meanwhile. */
static void remove_file(const struct msd_listener *l)
{
	struct stat st;

	if (find_file(l, &st) && st.st_dev == l->file_dev && st.st_ino == l->file_ino)
		(void)unlink(l->address.path);
}

/* Start a listener whose socket listens and whose address is known. On failure it is
 * freed. */
static msd_err start(struct msd_listener *l, struct msd_diag *d)
{
	struct msd_edge *e = l->edge;
	const int rc = uv_poll_init(e->loop, &l->poll, l->fd);
	struct stat st = {0};
	msd_err err;

	write_text(l);
	if (find_file(l, &st)) {
		l->file_dev = st.st_dev;
		l->file_ino = st.st_ino;
	}
	if (rc != 0) {
		err = msd_diag_set(d, MSD_IO, "%s: watching it: %s", l->listening.text,
				   uv_strerror(rc));
		(void)close(l->fd);
		remove_file(l);
		free(l);
		return err;
	}
	(void)uv_timer_init(e->loop, &l->retry);
	l->poll.data = l;
	l->retry.data = l;
	(void)uv_poll_start(&l->poll, UV_READABLE, on_readable);
	msd_list_append(&e->listeners, &l->listening.link);
	return MSD_OK;
}

/* Set the handlers of its connections; its address is known. */
static void set_way(struct msd_listener *l, const struct msd_listen_options *options)
{
	l->way = (struct msd_accept_path){.kind = l->address.kind,
					  .enter = options->enter,
					  .enter_tls = options->enter_tls,
					  .about = options->about,
					  .is_of_proxies = options->is_of_proxies};
	l->scheme = options->scheme;
}

msd_err msd_listener_open(struct msd_edge *e, const struct msd_address *address,
			  const struct msd_listen_options *options, struct msd_diag *d)
{
	struct msd_listener *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return msd_diag_no_memory(d);
	l->edge = e;
	l->address = *address;
	set_way(l, options);
	const msd_err err = msd_listen_socket_open(&l->address, options, &l->fd, d);
	if (err != MSD_OK) {
		free(l);
		return err;
	}
	return start(l, d);
}

msd_err msd_listener_adopt(struct msd_edge *e, int fd,
			   const struct msd_listen_options *options, struct msd_diag *d)
{
	struct msd_listener *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return msd_diag_no_memory(d);
	msd_err err = msd_listen_socket_inherited(fd, options, &l->address, d);
	if (err != MSD_OK) {
		free(l);
		return err;
	}
	(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	l->edge = e;
	l->fd = fd;
	l->is_inherited = true;
	set_way(l, options);
	return start(l, d);
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct msd_listener *l = handle->data;

	if (--l->open_handles == 0)
		free(l);
}

static void close_one(struct msd_listener *l)
{
	msd_list_remove(&l->listening.link);
	remove_file(l);
	if (!l->is_inherited)
		accept_rest(l);
	l->open_handles = 2;
	uv_close((uv_handle_t *)&l->poll, on_handle_closed);
	uv_close((uv_handle_t *)&l->retry, on_handle_closed);
	/* Connections that were not accepted may hold passed descriptors, which this
	 * close closes, too. */
	if (l->address.kind == MSD_ADDRESS_UNIX) {
		msd_closer_close(l->fd);
	} else {
		(void)close(l->fd);
	}
}

void msd_listeners_close(struct msd_edge *e, bool but_asking)
{
	MSD_LIST_EACH_SAFE (it, &e->listeners) {
		struct msd_listener *l =
			MSD_CONTAINER_OF(it, struct msd_listener, listening.link);
		if (!but_asking || l->scheme == NULL)
			close_one(l);
	}
}
