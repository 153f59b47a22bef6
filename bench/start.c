/*
 * bench_start ADDRESS COMMAND ARG...: milliseconds from exec until COMMAND, which
 * prints a line when it listens, has answered a ping (an echo server: has sent it
 * back).
 */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/net.h"
#include "bench/request.h"
#include "proto/limits.h"

extern char **environ;

int main(int argc, char **argv)
{
	int out[2];
	char line[4096];
	posix_spawn_file_actions_t actions;
	pid_t pid;

	if (argc < 3) {
		(void)fprintf(stderr, "usage: bench_start ADDRESS COMMAND ARG...\n");
		return 2;
	}
	struct msd_buf ping = bench_request_ping();
	if (pipe(out) != 0 || posix_spawn_file_actions_init(&actions) != 0 ||
	    posix_spawn_file_actions_adddup2(&actions, out[1], 1) != 0)
		bench_die("pipe");
	uint64_t begin = bench_now_ns();
	if (posix_spawn(&pid, argv[2], &actions, NULL, argv + 2, environ) != 0)
		bench_die(argv[2]);
	if (read(out[0], line, sizeof(line)) <= 0)
		bench_die(argv[2]);
	int fd = bench_connect(argv[1]);
	bench_write_all(fd, ping.p, ping.n);
	bench_read_all(fd, line, MSD_FRAME_HEADER_BYTES + 1);
	uint64_t end = bench_now_ns();
	(void)printf("ns=%llu\n", (unsigned long long)(end - begin));
	msd_buf_finish(&ping);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(fd);
	(void)kill(pid, SIGTERM);
	(void)waitpid(pid, NULL, 0);
	return 0;
}
