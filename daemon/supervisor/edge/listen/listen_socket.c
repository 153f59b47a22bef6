/*
 * The sockets of listeners: creates and binds them, or checks inherited ones.
 *
 * Failures: the address is beyond loopback and not allowed, another program uses the
 * socket file, or the directory does not belong to the user. A socket file that no
 * program uses is replaced.
 */
#include "daemon/supervisor/edge/listen/listen_socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 4096 /* the kernel cuts it to its own limit */

/*
 * Check whether the socket file may be replaced. The kernel refuses a connection to a
 * file with no bound socket, whatever its type was. Any other error means that a
 * program uses it, or that it is unclear.
 */
static msd_err check_unused(const struct sockaddr_un *sa, struct msd_diag *d)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int error =
		fd >= 0 && connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) == 0
			? 0
			: errno;

	if (fd >= 0)
		(void)close(fd);
	if (error == ECONNREFUSED || error == ENOENT)
		return MSD_OK;
	if (error == 0 || error == EAGAIN) { /* EAGAIN: its backlog is full */
		return msd_diag_set(d, MSD_EXISTS,
				    "another daemon listens on %s: stop it, or choose "
				    "another socket with --listen unix:PATH",
				    sa->sun_path);
	}
	if (error == EPROTOTYPE) {
		return msd_diag_set(
			d, MSD_EXISTS,
			"another program uses the socket %s, which does not listen: "
			"stop it, or choose another socket with --listen unix:PATH",
			sa->sun_path);
	}
	return msd_diag_set(d, MSD_EXISTS,
			    "the socket %s exists, and modserd cannot find out whether "
			    "a program uses it: %s: remove it, or choose another "
			    "socket with --listen unix:PATH",
			    sa->sun_path, strerror(error));
}

static msd_err make_dir(const struct msd_address *a, struct msd_diag *d)
{
	char dir[MSD_ADDRESS_PATH_MAX + 1];

	/* The service manager creates this directory. Without one, root creates it
	 * here. */
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
					    "%s exists and is not a socket", a->path);
		}
		err = check_unused(&sa, d);
		if (err != MSD_OK)
			return err;
		(void)unlink(a->path);
	}
	/* No client may connect between bind and chmod. */
	mode_t old = umask(0777);
	int rc = bind(fd, (struct sockaddr *)&sa, sizeof(sa));
	int error = errno;
	(void)umask(old);
	if (rc != 0) {
		return msd_diag_set(d, MSD_IO,
				    "unix:%s: %s: %s, or choose another socket with "
				    "--listen unix:PATH",
				    a->path, strerror(error),
				    error == ENOENT ? "create its folder"
						    : "let this user write there");
	}
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
		return msd_diag_set(
			d, MSD_REFUSED,
			"tls://%s:%u is beyond loopback, and every client could "
			"connect: require certificates with --tls-ca, give rights with "
			"--acl, or allow it with --insecure-tcp",
			a->host, a->port);
	}
	return msd_diag_set(d, MSD_REFUSED,
			    "tcp://%s:%u is beyond loopback, without encryption or "
			    "passwords: use tls://, or allow it with --insecure-tcp",
			    a->host, a->port);
}

/* Create a socket bound to @to. @ret: the actual address. */
static msd_err bind_net(const struct msd_address *a, const struct addrinfo *to,
			int *ret_fd, struct sockaddr_storage *ret, struct msd_diag *d)
{
	socklen_t n = sizeof(*ret);
	const int one = 1;
	int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd >= 0 && bind(fd, to->ai_addr, to->ai_addrlen) == 0 &&
	    getsockname(fd, (struct sockaddr *)ret, &n) == 0) {
		*ret_fd = fd;
		return MSD_OK;
	}
	const int error = errno;
	const bool is_taken = error == EADDRINUSE;
	if (fd >= 0)
		(void)close(fd);
	return msd_diag_set(d, is_taken ? MSD_EXISTS : MSD_IO, "%s:%u: %s%s", a->host,
			    a->port, strerror(error),
			    is_taken ? ": stop the program that listens there, or "
				       "choose another port"
				     : "");
}

/* Beyond loopback, the operator must allow the clients. */
static bool is_open_to_all(const struct msd_address *a,
			   const struct msd_listen_options *options)
{
	return options->insecure_tcp ||
	       (a->kind == MSD_ADDRESS_TLS && options->asks_names);
}

/* Resolve the address and check that it is allowed. The caller calls freeaddrinfo(). */
static msd_err find_net(const struct msd_address *a,
			const struct msd_listen_options *options, struct addrinfo **ret,
			struct msd_diag *d)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	char port[8];

	(void)snprintf(port, sizeof(port), "%u", a->port);
	int rc = getaddrinfo(a->host, port, &hints, ret);
	if (rc != 0) {
		return msd_diag_set(d, MSD_IO, "%s: %s", a->host, gai_strerror(rc));
	}
	if (is_open_to_all(a, options) || is_loopback((*ret)->ai_addr))
		return MSD_OK;
	freeaddrinfo(*ret);
	return refuse_beyond_loopback(a, d);
}

static msd_err open_net(const struct msd_address *a,
			const struct msd_listen_options *options, int *ret_fd,
			uint16_t *ret_port, struct msd_diag *d)
{
	struct addrinfo *found;
	struct sockaddr_storage bound;
	msd_err err = find_net(a, options, &found, d);

	if (err != MSD_OK)
		return err;
	err = bind_net(a, found, ret_fd, &bound, d);
	freeaddrinfo(found);
	if (err != MSD_OK)
		return err;
	/* The port is at the same offset for both families. */
	struct sockaddr_in in4;
	memcpy(&in4, &bound, sizeof(in4));
	*ret_port = ntohs(in4.sin_port);
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

msd_err msd_listen_socket_check(const struct msd_address *a,
				const struct msd_listen_options *options,
				struct msd_diag *d)
{
	struct addrinfo *found;

	if (a->kind == MSD_ADDRESS_UNIX)
		return MSD_OK;
	const msd_err err = find_net(a, options, &found, d);
	if (err == MSD_OK)
		freeaddrinfo(found);
	return err;
}

msd_err msd_listen_socket_open(struct msd_address *a,
			       const struct msd_listen_options *options, int *ret_fd,
			       struct msd_diag *d)
{
	int fd = -1;
	msd_err err = a->kind == MSD_ADDRESS_UNIX
			      ? open_unix(a, options->socket_mode, &fd, d)
			      : open_net(a, options, &fd, &a->port, d);

	if (err != MSD_OK)
		return err;
	if (listen(fd, BACKLOG) != 0) {
		err = msd_diag_set(d, MSD_IO, "listen: %s", strerror(errno));
		(void)close(fd);
		return err;
	}
	*ret_fd = fd;
	return MSD_OK;
}

/* Convert @sa of @n bytes to a listener address. */
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

static bool is_at(const struct msd_address *bound, const struct msd_address *a)
{
	return a->port == bound->port && strcmp(a->host, bound->host) == 0;
}

bool msd_listen_socket_is_at(int fd, const struct msd_address *a)
{
	struct sockaddr_storage sa = {0};
	struct msd_address bound = {0};
	socklen_t n = sizeof(sa);

	return getsockname(fd, (struct sockaddr *)&sa, &n) == 0 &&
	       read_bound(&sa, n, &bound) && bound.kind == MSD_ADDRESS_TCP &&
	       is_at(&bound, a);
}

/* A socket does not say which protocol it is for, so the configuration names it. */
static bool is_for_tls(const struct msd_address *a,
		       const struct msd_listen_options *options)
{
	for (uint32_t i = 0; i < options->n_wanted; i++) {
		const struct msd_address *w = &options->wanted[i];
		if (w->kind == MSD_ADDRESS_TLS && is_at(a, w))
			return true;
	}
	return false;
}

msd_err msd_listen_socket_inherited(int fd, const struct msd_listen_options *options,
				    struct msd_address *ret, struct msd_diag *d)
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
	if (ret->kind == MSD_ADDRESS_TCP && is_for_tls(ret, options))
		ret->kind = MSD_ADDRESS_TLS;
	if (ret->kind != MSD_ADDRESS_UNIX && !is_open_to_all(ret, options) &&
	    !is_loopback((const struct sockaddr *)&sa))
		return refuse_beyond_loopback(ret, d);
	return MSD_OK;
}
