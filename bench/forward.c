/*
 * bench_forward ADDRESS UPSTREAM: pass bytes between clients, one after the other, and
 * the server at UPSTREAM, unread. In front of bench_echo it is the floor of every
 * design with a supervisor in the path: three processes, four messages, no work.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bench/net.h"

static uint8_t buffer[1 << 18];

static void pass_all(int epoll, int client, int upstream)
{
	struct epoll_event events[2];

	for (;;) {
		int n = epoll_wait(epoll, events, 2, -1);
		for (int i = 0; i < n; i++) {
			int from = events[i].data.fd;
			ssize_t got = read(from, buffer, sizeof(buffer));
			if (got <= 0)
				return;
			bench_write_all(from == client ? upstream : client, buffer,
					(size_t)got);
		}
	}
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		(void)fprintf(stderr, "usage: bench_forward ADDRESS UPSTREAM\n");
		return 2;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	int upstream = bench_connect(argv[2]);
	int listener = bench_listen(argv[1]);
	for (;;) {
		int client = bench_accept(listener);
		int epoll = epoll_create1(EPOLL_CLOEXEC);
		struct epoll_event a = {.events = EPOLLIN, .data.fd = client};
		struct epoll_event b = {.events = EPOLLIN, .data.fd = upstream};
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, client, &a) != 0 ||
		    epoll_ctl(epoll, EPOLL_CTL_ADD, upstream, &b) != 0)
			bench_die("epoll_ctl");
		pass_all(epoll, client, upstream);
		(void)close(epoll);
		(void)close(client);
	}
}
