#include "client/cli/measure/latency_baseline.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/clock.h"

#define BYTES 64u

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int64_t msd_floor_median(uint64_t ns[MSD_FLOOR_TRIPS])
{
	qsort(ns, MSD_FLOOR_TRIPS, sizeof(*ns), by_size);
	return (int64_t)ns[MSD_FLOOR_TRIPS / 2];
}

static void echo(int fd)
{
	char bytes[BYTES];
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		if (write(fd, bytes, (size_t)n) != n)
			break;
	}
	_exit(0);
}

static bool trip(int fd)
{
	char bytes[BYTES] = {0};

	return write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) &&
	       recv(fd, bytes, sizeof(bytes), MSG_WAITALL) == (ssize_t)sizeof(bytes);
}

/* Create two connected TCP sockets on the loopback. */
static bool connect_tcp(int listener, int fds[2])
{
	const int on = 1;
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof(at);

	if (bind(listener, (struct sockaddr *)&at, n) != 0 ||
	    listen(listener, 1) != 0 ||
	    getsockname(listener, (struct sockaddr *)&at, &n) != 0 ||
	    connect(fds[0], (struct sockaddr *)&at, n) != 0)
		return false;
	fds[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	return fds[1] >= 0 &&
	       setsockopt(fds[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0 &&
	       setsockopt(fds[1], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0;
}

static void close_pair(const int fds[2])
{
	for (int i = 0; i < 2; i++) {
		if (fds[i] >= 0)
			(void)close(fds[i]);
	}
}

static bool open_pair(bool by_tcp, int fds[2])
{
	if (!by_tcp)
		return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0;
	const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fds[1] = -1;
	const bool is_open = listener >= 0 && fds[0] >= 0 && connect_tcp(listener, fds);
	if (listener >= 0)
		(void)close(listener);
	if (!is_open)
		close_pair(fds);
	return is_open;
}

int64_t msd_floor_round(bool by_tcp)
{
	uint64_t ns[MSD_FLOOR_TRIPS];
	unsigned i = 0;
	int fds[2];

	if (!open_pair(by_tcp, fds))
		return 0;
	const pid_t child = fork();
	if (child == 0) {
		(void)close(fds[0]);
		echo(fds[1]);
	}
	(void)close(fds[1]);
	for (; child > 0 && i < MSD_FLOOR_TRIPS; i++) {
		const uint64_t start_ns = msd_now_ns();
		if (!trip(fds[0]))
			break;
		ns[i] = msd_now_ns() - start_ns;
	}
	(void)close(fds[0]);
	if (child > 0)
		(void)waitpid(child, NULL, 0);
	return i == MSD_FLOOR_TRIPS ? msd_floor_median(ns) : 0;
}
