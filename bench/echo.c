/* bench_echo ADDRESS: send all received bytes back, from one epoll loop. The minimum
 * cost of a server process. */
#include <stdio.h>
#include <unistd.h>

#include "bench/net.h"

static uint8_t buffer[1 << 18];

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
	if (argc != 2) {
		(void)fprintf(stderr, "usage: bench_echo ADDRESS\n");
		return 2;
	}
	bench_loop(argv[1], serve);
}
