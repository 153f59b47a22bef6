/*
 * Blocking sockets, for measuring. A listener prints a line when it is ready;
 * connecting retries while there is no listener. Failures terminate the program with
 * a line, except a peer that closes between two messages.
 */
#include "bench/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "proto/address.h"

union any_address {
	struct sockaddr base;
	struct sockaddr_un un;
	struct sockaddr_in in;
};

_Noreturn void bench_die(const char *what)
{
	perror(what);
	exit(1);
}

uint64_t bench_now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A socket for @text, and its address. */
static int socket_for(const char *text, union any_address *ret, socklen_t *ret_n)
{
	struct msd_diag d = {0};
	struct msd_address a;

	if (msd_address_parse(text, &a, &d) != MSD_OK) {
		(void)fprintf(stderr, "%s\n", msd_diag_text(&d));
		exit(2);
	}
	memset(ret, 0, sizeof(*ret));
	if (a.kind == MSD_ADDRESS_UNIX) {
		ret->un.sun_family = AF_UNIX;
		(void)snprintf(ret->un.sun_path, sizeof(ret->un.sun_path), "%s",
			       a.path);
		*ret_n = sizeof(ret->un);
	} else {
		ret->in.sin_family = AF_INET;
		ret->in.sin_port = htons(a.port);
		if (inet_pton(AF_INET, a.host, &ret->in.sin_addr) != 1)
			bench_die(a.host);
		*ret_n = sizeof(ret->in);
	}
	int fd = socket(ret->base.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		bench_die("socket");
	return fd;
}

static void no_delay(int fd)
{
	int on = 1;

	/* Fails on unix sockets, which have no delay. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

int bench_listen(const char *address)
{
	union any_address a;
	socklen_t n;
	int on = 1;
	int fd = socket_for(address, &a, &n);

	if (a.base.sa_family == AF_UNIX)
		(void)unlink(a.un.sun_path);
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, &a.base, n) != 0 || listen(fd, 64) != 0)
		bench_die(address);
	(void)printf("listening %s\n", address);
	(void)fflush(stdout);
	return fd;
}

int bench_accept(int listener)
{
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		bench_die("accept");
	no_delay(fd);
	return fd;
}

static void watch(int epoll, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) != 0)
		bench_die("epoll_ctl");
}

_Noreturn void bench_loop(const char *address, void (*serve)(int fd))
{
	struct epoll_event events[64];
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	(void)signal(SIGPIPE, SIG_IGN);
	int listener = bench_listen(address);
	watch(epoll, listener);
	for (;;) {
		int n = epoll_wait(epoll, events, 64, -1);
		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == listener) {
				watch(epoll, bench_accept(listener));
			} else {
				serve(events[i].data.fd);
			}
		}
	}
}

/* Open a direct channel to the module `trivial` through the daemon's connection @fd.
 * That connection stays open, because it owns the channel. */
static int go_past(int fd)
{
	static const char ask[] = "\xed\x6d\x64\x01\x19\0\0\0\0\0\0\0\0\0\0\0"
				  "\x94\x00\x01\xac"
				  "channel.open"
				  "\x91\xa7trivial";
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char answer[256];
	struct iovec piece = {answer, sizeof(answer)};
	struct msghdr m = {.msg_iov = &piece,
			   .msg_iovlen = 1,
			   .msg_control = control.room,
			   .msg_controllen = sizeof(control.room)};
	int past;

	bench_write_all(fd, ask, sizeof(ask) - 1);
	if (recvmsg(fd, &m, MSG_CMSG_CLOEXEC) <= 0)
		bench_die("channel.open");
	const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	if (c == NULL || c->cmsg_type != SCM_RIGHTS) {
		(void)fprintf(stderr, "channel.open: the daemon gives none\n");
		exit(1);
	}
	memcpy(&past, CMSG_DATA(c), sizeof(past));
	return past;
}

int bench_connect(const char *address)
{
	static const char prefix[] = "direct:";

	if (strncmp(address, prefix, sizeof(prefix) - 1) == 0)
		return go_past(bench_connect(address + sizeof(prefix) - 1));
	const struct timespec pause = {.tv_nsec = 2000000};

	for (int i = 0; i < 1000; i++) {
		union any_address a;
		socklen_t n;
		int fd = socket_for(address, &a, &n);
		if (connect(fd, &a.base, n) == 0) {
			no_delay(fd);
			return fd;
		}
		(void)close(fd);
		(void)nanosleep(&pause, NULL);
	}
	bench_die(address);
}

_Bool bench_read_or_end(int fd, void *to, size_t n)
{
	uint8_t *at = to;

	for (size_t left = n; left > 0;) {
		ssize_t got = read(fd, at, left);
		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0 && left == n)
			return 0;
		if (got <= 0)
			bench_die("read");
		at += got;
		left -= (size_t)got;
	}
	return 1;
}

void bench_read_all(int fd, void *to, size_t n)
{
	if (!bench_read_or_end(fd, to, n)) {
		(void)fprintf(stderr, "the peer closed the connection\n");
		exit(1);
	}
}

void bench_write_two(int fd, struct iovec parts[static 2])
{
	while (parts[0].iov_len + parts[1].iov_len > 0) {
		int first = parts[0].iov_len == 0;
		ssize_t n = writev(fd, parts + first, 2 - first);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			bench_die("write");
		for (int i = first; i < 2; i++) {
			size_t used = (size_t)n < parts[i].iov_len ? (size_t)n
								   : parts[i].iov_len;
			parts[i].iov_base = (uint8_t *)parts[i].iov_base + used;
			parts[i].iov_len -= used;
			n -= (ssize_t)used;
		}
	}
}

void bench_write_all(int fd, const void *from, size_t n)
{
	const uint8_t *at = from;

	while (n > 0) {
		ssize_t put = write(fd, at, n);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			bench_die("write");
		at += put;
		n -= (size_t)put;
	}
}
