/*
 * Sockets that are listened on.
 *
 * Happy path: open binds the address, adopt takes a socket that is bound; each
 * connection is accepted, gets its socket options and goes to the door.
 *
 * Failures: an address beyond loopback that was not allowed, a socket file that another
 * daemon listens on: not opened. No descriptor left, or any other fault: accepting
 * pauses, it would be told of the same connection again and again.
 */
#include "daemon/supervisor/edge/listener.h"

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
#include "daemon/supervisor/edge/door.h"
#include "daemon/supervisor/edge/porch.h"
#include "daemon/wire/aside.h"
#include "proto/errno_text.h"

#define BACKLOG 4096       /* the kernel cuts it to its own limit */
#define ACCEPTS_PER_TURN 8 /* each makes a session */
/* A silent TCP peer is asked after the first, then this often, nine times by default.
 */
#define KEEPALIVE_IDLE_S 60
#define KEEPALIVE_EVERY_S 10
#define PAUSE_MS 100u       /* after a fault, then accepting is tried again */
#define FAULTS_PER_SECOND 1 /* lines of the log about them */
/* Of a unix socket, as far as the system's maximum allows: a tensor leaves in fewer
 * turns of the loop. The kernel takes memory only for what is not read yet. */
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

/* A peer whose machine or network is gone sends no end: the kernel asks for it. */
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

	if (kind != MSD_ADDRESS_UNIX) { /* replies are whole frames; its buffers grow */
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		keep_alive(fd);
	} else {
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	}
}

/* What is not there, or may not be, cannot be consumed, and would be told of again and
 * again. */
static void pause_accepting(struct msd_listener *l, int error)
{
	char text[MSD_ERRNO_TEXT_BYTES];
	uint64_t n_others;

	if (msd_log_rate_take(&l->faults, uv_now(l->edge->loop), FAULTS_PER_SECOND,
			      &n_others)) {
		msd_log(MSD_LOG_WARN, "accept", "others=%llu why=\"%s\"",
			(unsigned long long)n_others, msd_errno_text(error, text));
	}
	(void)uv_poll_stop(&l->poll);
	(void)uv_timer_start(&l->retry, on_retry, PAUSE_MS, 0);
}

/* Nobody is there (any more), or a signal came. */
static bool is_passing(int error)
{
	return error == EAGAIN || error == ECONNABORTED || error == EINTR;
}

static void accept_some(struct msd_listener *l)
{
	struct msd_edge *e = l->edge;
	const struct msd_principal who = msd_principal_of(l->address.kind, e->load_tcp);

	for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
		int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && !is_passing(errno))
			pause_accepting(l, errno);
		if (fd < 0)
			return;
		set_options(fd, l->address.kind);
		if (l->enter_http != NULL) {
			l->enter_http(e, fd, who);
		} else if (l->address.kind == MSD_ADDRESS_TLS) {
			msd_porch_enter(e, fd);
		} else {
			msd_door_open(e, fd, who);
		}
	}
}

/* True when somebody accepts on the socket file. */
static bool is_live(const struct sockaddr_un *sa)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc = fd < 0 ? -1 : connect(fd, (const struct sockaddr *)sa, sizeof(*sa));
	bool live = rc == 0 || errno == EAGAIN; /* EAGAIN: its backlog is full */

	if (fd >= 0)
		(void)close(fd);
	return live;
}

static msd_err make_dir(const struct msd_address *a, struct msd_diag *d)
{
	char dir[MSD_ADDRESS_PATH_MAX + 1];

	/* The service manager makes this one; root without one does it here. */
	if (strncmp(a->path, MSD_ADDRESS_SYSTEM_DIR "/",
		    sizeof(MSD_ADDRESS_SYSTEM_DIR)) == 0)
		(void)mkdir(MSD_ADDRESS_SYSTEM_DIR, 0755);
	if (a->own_dir_bytes == 0)
		return MSD_OK;
	(void)snprintf(dir, sizeof(dir), "%.*s", (int)a->own_dir_bytes, a->path);
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return msd_diag_set(d, MSD_IO, "%s: %s", dir, strerror(errno));
	return msd_address_check_dir(a, d);
}

static msd_err bind_unix(const struct msd_address *a, unsigned mode, int fd,
			 struct msd_diag *d)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	struct stat st;
	msd_err err = make_dir(a, d);

	if (err != MSD_OK)
		return err;
	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", a->path);
	if (lstat(a->path, &st) == 0) {
		if (!S_ISSOCK(st.st_mode)) {
			return msd_diag_set(d, MSD_EXISTS,
					    "%s is there and not a socket", a->path);
		}
		if (is_live(&sa)) {
			return msd_diag_set(
				d, MSD_EXISTS,
				"another daemon listens on %s: stop it, or choose "
				"another socket with --listen unix:PATH",
				a->path);
		}
		(void)unlink(a->path);
	}
	/* Nobody may connect between bind and chmod. */
	mode_t old = umask(0777);
	int rc = bind(fd, (struct sockaddr *)&sa, sizeof(sa));
	int error = errno;
	(void)umask(old);
	if (rc != 0)
		return msd_diag_set(d, MSD_IO, "unix:%s: %s", a->path, strerror(error));
	if (chmod(a->path, (mode_t)mode) != 0) {
		return msd_diag_set(d, MSD_IO, "%s: chmod: %s", a->path,
				    strerror(errno));
	}
	return MSD_OK;
}

static bool is_loopback(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET) {
		struct sockaddr_in in4;
		memcpy(&in4, sa, sizeof(in4));
		return (ntohl(in4.sin_addr.s_addr) >> 24) == 127;
	}
	struct sockaddr_in6 in6;
	memcpy(&in6, sa, sizeof(in6));
	return sa->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
}

static msd_err refuse_beyond_loopback(const struct msd_address *a, struct msd_diag *d)
{
	if (a->kind == MSD_ADDRESS_TLS) {
		return msd_diag_set(d, MSD_REFUSED,
				    "tls://%s:%u is beyond loopback and would let in "
				    "whoever comes: --tls-ca asks them for "
				    "certificates, --insecure-tcp allows it",
				    a->host, a->port);
	}
	return msd_diag_set(
		d, MSD_REFUSED,
		"tcp://%s:%u is beyond loopback and the protocol has neither "
		"encryption nor passwords there: --insecure-tcp allows it",
		a->host, a->port);
}

static msd_err open_net(const struct msd_address *a, bool insecure, int *ret_fd,
			uint16_t *ret_port, struct msd_diag *d)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	struct addrinfo *found;
	struct sockaddr_storage bound;
	socklen_t n = sizeof(bound);
	char port[8];
	const int one = 1;
	int fd = -1;
	msd_err err = MSD_OK;

	(void)snprintf(port, sizeof(port), "%u", a->port);
	int rc = getaddrinfo(a->host, port, &hints, &found);
	if (rc != 0) {
		return msd_diag_set(d, MSD_IO, "%s: %s", a->host, gai_strerror(rc));
	}
	if (!insecure && !is_loopback(found->ai_addr))
		err = refuse_beyond_loopback(a, d);
	if (err == MSD_OK) {
		fd = socket(found->ai_family,
			    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (fd >= 0) {
			(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one,
					 sizeof(one));
		}
		if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) != 0 ||
		    getsockname(fd, (struct sockaddr *)&bound, &n) != 0) {
			err = msd_diag_set(d, errno == EADDRINUSE ? MSD_EXISTS : MSD_IO,
					   "%s:%u: %s", a->host, a->port,
					   strerror(errno));
		}
	}
	freeaddrinfo(found);
	if (err != MSD_OK) {
		if (fd >= 0)
			(void)close(fd);
		return err;
	}
	/* The port stands at the same place for both families. */
	struct sockaddr_in in4;
	memcpy(&in4, &bound, sizeof(in4));
	*ret_port = ntohs(in4.sin_port);
	*ret_fd = fd;
	return MSD_OK;
}

static msd_err open_unix(const struct msd_address *a, unsigned mode, int *ret_fd,
			 struct msd_diag *d)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return msd_diag_set(d, MSD_IO, "socket: %s", strerror(errno));
	msd_err err = bind_unix(a, mode, fd, d);
	if (err != MSD_OK) {
		(void)close(fd);
	} else {
		*ret_fd = fd;
	}
	return err;
}

/* Its address for people: tcp://HOST:PORT, http://HOST:PORT, http+unix:PATH. */
static void write_text(struct msd_listener *l)
{
	const bool is_http = l->enter_http != NULL;
	const bool is_tcp = l->address.kind == MSD_ADDRESS_TCP;
	char text[MSD_ADDRESS_TEXT_MAX];

	(void)msd_address_format(&l->address, text);
	(void)snprintf(l->listening.text, sizeof(l->listening.text), "%s%s%s",
		       is_http ? "http" : "", is_http && !is_tcp ? "+" : "",
		       is_http && is_tcp ? strchr(text, ':') : text);
}

/* Its socket listens, its address is known. */
static void start(struct msd_listener *l)
{
	struct msd_edge *e = l->edge;

	write_text(l);
	(void)uv_poll_init(e->loop, &l->poll, l->fd);
	(void)uv_timer_init(e->loop, &l->retry);
	l->poll.data = l;
	l->retry.data = l;
	(void)uv_poll_start(&l->poll, UV_READABLE, on_readable);
	msd_list_append(&e->listeners, &l->listening.link);
}

/* Beyond loopback only those come in whom the operator wants to. */
static bool is_open_to_all(const struct msd_address *a,
			   const struct msd_listen_options *options)
{
	return options->insecure_tcp ||
	       (a->kind == MSD_ADDRESS_TLS && options->asks_names);
}

msd_err msd_listener_open(struct msd_edge *e, const struct msd_address *address,
			  const struct msd_listen_options *options, struct msd_diag *d)
{
	struct msd_listener *l = calloc(1, sizeof(*l));
	msd_err err;

	if (l == NULL)
		return msd_diag_no_memory(d);
	l->edge = e;
	l->enter_http = options->enter_http;
	l->address = *address;
	err = address->kind == MSD_ADDRESS_UNIX
		      ? open_unix(address, options->socket_mode, &l->fd, d)
		      : open_net(address, is_open_to_all(address, options), &l->fd,
				 &l->address.port, d);
	if (err == MSD_OK && listen(l->fd, BACKLOG) != 0) {
		err = msd_diag_set(d, MSD_IO, "listen: %s", strerror(errno));
		(void)close(l->fd);
	}
	if (err != MSD_OK) {
		free(l);
		return err;
	}
	start(l);
	return MSD_OK;
}

/* What @sa, of @n bytes, says as a listener's address. */
static bool read_bound(const struct sockaddr_storage *sa, socklen_t n,
		       struct msd_address *ret)
{
	char port[8];

	if (sa->ss_family == AF_UNIX) {
		struct sockaddr_un un = {0};

		memcpy(&un, sa, n < sizeof(un) ? n : sizeof(un));
		ret->kind = MSD_ADDRESS_UNIX;
		(void)snprintf(ret->path, sizeof(ret->path), "%.107s", un.sun_path);
		return un.sun_path[0] == '/';
	}
	ret->kind = MSD_ADDRESS_TCP;
	if (getnameinfo((const struct sockaddr *)sa, n, ret->host, sizeof(ret->host),
			port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return false;
	ret->port = (uint16_t)strtoul(port, NULL, 10);
	return true;
}

/* The address that @fd listens on; what does not listen is nobody's door. */
static msd_err check_inherited(int fd, bool insecure_tcp, struct msd_address *ret,
			       struct msd_diag *d)
{
	struct sockaddr_storage sa = {0};
	socklen_t n = sizeof(sa), size = sizeof(int);
	int type = 0, listens = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 ||
	    type != SOCK_STREAM || listens == 0 ||
	    getsockname(fd, (struct sockaddr *)&sa, &n) != 0 ||
	    !read_bound(&sa, n, ret)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "descriptor %d of the service manager: expected a "
				    "stream socket "
				    "that listens on a path or on TCP",
				    fd);
	}
	if (ret->kind == MSD_ADDRESS_TCP && !insecure_tcp &&
	    !is_loopback((const struct sockaddr *)&sa))
		return refuse_beyond_loopback(ret, d);
	return MSD_OK;
}

msd_err msd_listener_adopt(struct msd_edge *e, int fd, bool insecure_tcp,
			   struct msd_diag *d)
{
	struct msd_listener *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return msd_diag_no_memory(d);
	msd_err err = check_inherited(fd, insecure_tcp, &l->address, d);
	if (err != MSD_OK) {
		free(l);
		return err;
	}
	(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	l->edge = e;
	l->fd = fd;
	l->is_inherited = true;
	start(l);
	return MSD_OK;
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
	if (l->address.kind == MSD_ADDRESS_UNIX && !l->is_inherited)
		(void)unlink(l->address.path);
	l->open_handles = 2;
	uv_close((uv_handle_t *)&l->poll, on_handle_closed);
	uv_close((uv_handle_t *)&l->retry, on_handle_closed);
	/* Who was not accepted yet may have passed descriptors, closed with this one.
	 */
	if (l->address.kind == MSD_ADDRESS_UNIX) {
		msd_aside_close(l->fd);
	} else {
		(void)close(l->fd);
	}
}

void msd_listeners_close(struct msd_edge *e, bool but_http)
{
	MSD_LIST_EACH_SAFE (it, &e->listeners) {
		struct msd_listener *l =
			MSD_CONTAINER_OF(it, struct msd_listener, listening.link);
		if (!but_http || l->enter_http == NULL)
			close_one(l);
	}
}
