#include "bench/link.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bench/net.h"

bool bench_link_read(struct bench_link *l)
{
	memmove(l->bytes, l->bytes + l->at, l->n - l->at);
	l->n -= l->at;
	l->at = 0;
	ssize_t got = read(l->fd, l->bytes + l->n, sizeof(l->bytes) - l->n);
	if (got > 0)
		l->n += (size_t)got;
	return got > 0;
}

static void watch(int epoll, int fd, void *as)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = as};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) != 0)
		bench_die("epoll_ctl");
}

int bench_epoll(int listener)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0)
		bench_die("epoll_create1");
	if (listener >= 0)
		watch(epoll, listener, NULL);
	return epoll;
}

struct bench_link *bench_link_watch(int epoll, int fd)
{
	struct bench_link *l = calloc(1, sizeof(*l));

	if (l == NULL)
		bench_die("calloc");
	l->fd = fd;
	watch(epoll, fd, l);
	return l;
}
