/*
 * bench_forward ADDRESS UPSTREAM: pass bytes between clients and the server at
 * UPSTREAM, unread; each client has its own upstream connection. In front of
 * bench_echo it is the lower bound of every design with a supervisor in the path:
 * three processes, four messages, no work.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bench/net.h"

static uint8_t buffer[1 << 18];

/* One end of a pair. The client's end frees both. */
struct end {
	int fd;
	struct end *other;
	bool is_client;
};

static struct end *watch(int epoll, int fd, bool is_client)
{
	struct end *e = malloc(sizeof(*e));

	if (e == NULL)
		bench_die("malloc");
	*e = (struct end){.fd = fd, .is_client = is_client};
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = e};
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) != 0)
		bench_die("epoll_ctl");
	return e;
}

static void pair(int epoll, int client, const char *upstream)
{
	struct end *a = watch(epoll, client, true);
	struct end *b = watch(epoll, bench_connect(upstream), false);

	a->other = b;
	b->other = a;
}

/* Pass the bytes of @e to its other end; false: the client has left, and both ends
 * are freed. */
static bool pass(struct end *e)
{
	ssize_t n = read(e->fd, buffer, sizeof(buffer));

	if (n > 0) {
		bench_write_all(e->other->fd, buffer, (size_t)n);
		return true;
	}
	if (!e->is_client)
		bench_die("upstream");
	(void)close(e->fd);
	(void)close(e->other->fd);
	free(e->other);
	free(e);
	return false;
}

int main(int argc, char **argv)
{
	struct epoll_event events[64];

	if (argc != 3) {
		(void)fprintf(stderr, "usage: bench_forward ADDRESS UPSTREAM\n");
		return 2;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	int listener = bench_listen(argv[1]);
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event first = {.events = EPOLLIN};
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &first) != 0)
		bench_die("epoll_ctl");
	for (;;) {
		int n = epoll_wait(epoll, events, 64, -1);
		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr == NULL) {
				pair(epoll, bench_accept(listener), argv[2]);
			} else if (!pass(events[i].data.ptr)) {
				break; /* its other end may be later in the list */
			}
		}
	}
}
