/*
 * bench_echo ADDRESS: send back what comes, from one epoll loop. The least that a
 * server process costs.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bench/net.h"

static uint8_t buffer[1 << 18];

static void watch(int epoll, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) != 0)
		bench_die("epoll_ctl");
}

static void serve(int fd)
{
	ssize_t n = read(fd, buffer, sizeof(buffer));

	if (n <= 0) {
		(void)close(fd);
	} else {
		bench_write_all(fd, buffer, (size_t)n);
	}
}

int main(int argc, char **argv)
{
	struct epoll_event events[64];

	if (argc != 2) {
		(void)fprintf(stderr, "usage: bench_echo ADDRESS\n");
		return 2;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int listener = bench_listen(argv[1]);
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
