/* Functions that misbehave, each in one way. Killed or answered, the daemon stays up.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ffi.h"

/* The argument, if any: how far to go through the descriptors. */
static int most_fds(const any *args, int32_t n)
{
	return n == 1 && args[0].type == T_INT ? (int)args[0].v.i : 64;
}

static void pause_ms(int64_t ms)
{
	struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		continue;
}

FUNCTION(ok)
{
	return 0;
}

FUNCTION(crash)
{
	*(volatile int *)8 = 1;
	return 0;
}

FUNCTION(abort)
{
	(void)fprintf(stderr, "the last words of abort\n");
	abort();
}

FUNCTION(exit0)
{
	exit(0);
}

FUNCTION(exit3)
{
	(void)fprintf(stderr, "the last words of exit3\n");
	_exit(3);
}

FUNCTION(loop)
{
	for (volatile int on = 1; on;)
		continue;
	return 0;
}

/* slow(ms) */
FUNCTION(slow)
{
	if (n != 1 || args[0].type != T_INT)
		return fail("TypeError", "slow takes the milliseconds");
	pause_ms(args[0].v.i);
	return 0;
}

/* nap(): slow(50) without an argument, so that HTTP can ask for it. */
FUNCTION(nap)
{
	(void)args;
	(void)n;
	pause_ms(50);
	return 0;
}

static int wait_at(const any *path)
{
	char byte;

	if (path->type != T_STR)
		return fail("TypeError", "expected the path of a FIFO");
	/* Behind the object's head: where the text lies. */
	int fd = open(*(char **)((char *)path->v.p + sizeof(object)), O_RDONLY);
	if (fd < 0)
		return fail("OSError", "the FIFO cannot be opened");
	while (read(fd, &byte, 1) > 0)
		continue;
	close(fd);
	return 0;
}

/* gate(path): until somebody has opened the FIFO there for writing and closed it. */
FUNCTION(gate)
{
	return n == 1 ? wait_at(&args[0])
		      : fail("TypeError", "gate takes the path of a FIFO");
}

static char *data_of(const any *v)
{
	const char *p = v->v.p;
	const dltensor *t =
		(const void *)(v->type == T_TENSOR ? p + sizeof(object) : p);

	return (char *)t->data + t->byte_offset;
}

/* late(path, from, to, bytes): waits as gate does, then reads what is there. */
FUNCTION(late)
{
	if (n != 4 || args[3].type != T_INT)
		return fail("TypeError", "late takes a path, two tensors and a size");
	if (wait_at(&args[0]) != 0)
		return -1;
	memcpy(data_of(&args[2]), data_of(&args[1]), (size_t)args[3].v.i);
	return 0;
}

/* scribble(tensor, bytes): writes to its argument. */
FUNCTION(scribble)
{
	if (n != 2 || args[1].type != T_INT)
		return fail("TypeError", "scribble takes a tensor and a size");
	memset(data_of(&args[0]), 0x55, (size_t)args[1].v.i);
	return 0;
}

FUNCTION(stop_self)
{
	(void)raise(SIGSTOP);
	return 0;
}

static int deeper(volatile char *above)
{
	volatile char here[4096];

	here[0] = above[0];
	return deeper(here) + here[0];
}

FUNCTION(overflow_stack)
{
	volatile char c = 1;

	return deeper(&c);
}

/* alloc_bomb(mib): take and touch memory until malloc fails or @mib is reached. */
FUNCTION(alloc_bomb)
{
	const size_t chunk = (size_t)16 << 20;
	int64_t most = n == 1 ? args[0].v.i : 1024;

	for (int64_t taken = 0; taken < most; taken += 16) {
		char *p = malloc(chunk);
		if (p == NULL)
			return fail("MemoryError", "alloc_bomb: malloc gave NULL");
		memset(p, 1, chunk);
	}
	ret->type = T_INT;
	ret->v.i = most;
	return 0;
}

/* A child that lives on and holds every descriptor of the worker, the channel among
 * them. It ends by itself after a while, for a host that does not kill it. */
FUNCTION(fork_hold)
{
	pid_t child = fork();

	if (child == 0) {
		pause_ms(120000);
		_exit(0);
	}
	ret->type = T_INT;
	ret->v.i = child;
	return 0;
}

/* fork_hold(), then die at once. */
FUNCTION(fork_and_die)
{
	if (fork() == 0) {
		pause_ms(120000);
		_exit(0);
	}
	_exit(7);
}

FUNCTION(junk_everywhere)
{
	char junk[4096];

	memset(junk, 0xa5, sizeof(junk));
	for (int fd = 3; fd < most_fds(args, n); fd++)
		(void)!write(fd, junk, sizeof(junk));
	return 0;
}

/* A frame header that is right, with a body that is not. */
FUNCTION(junk_frame)
{
	static const unsigned char frame[] = {0xed, 'm',  'd',  1,    5,    0,   0,
					      0,    0,    0,    0,    0,    0,   0,
					      0,    0xdd, 0xff, 0xff, 0xff, 0xff};

	for (int fd = 3; fd < most_fds(args, n); fd++)
		(void)!write(fd, frame, sizeof(frame));
	return 0;
}

FUNCTION(close_everything)
{
	for (int fd = 3; fd < most_fds(args, n); fd++)
		close(fd);
	return 0;
}

FUNCTION(flood_stderr)
{
	char line[1024];

	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	for (int i = 0; i < 100 * 1024; i++) {
		if (write(2, line, sizeof(line)) < 0)
			return fail("OSError", "flood_stderr: write failed");
	}
	return 0;
}

FUNCTION(say)
{
	(void)fprintf(stderr, "said on stderr\n");
	printf("said on stdout\n");
	(void)fflush(stdout);
	return 0;
}

FUNCTION(error_long)
{
	static char text[10241];

	memset(text, 'e', sizeof(text) - 1);
	memcpy(text, "begins ", 7);
	memcpy(text + sizeof(text) - 6, " ends", 5);
	return fail("ValueError", text);
}

FUNCTION(error_not_utf8)
{
	return fail("ValueError", "bad \xff\xfe bytes");
}

FUNCTION(error_without_text)
{
	return -1;
}

/* write_past_end(out): a few bytes behind the tensor that it was given. */
FUNCTION(write_past_end)
{
	if (n != 1 || args[0].v.p == NULL)
		return fail("TypeError", "write_past_end takes a tensor");
	const dltensor *t =
		args[0].type == T_DLTENSOR
			? args[0].v.p
			: (const dltensor *)(const void *)((char *)args[0].v.p + 24);
	int64_t bytes = t->bits / 8;

	for (int32_t i = 0; i < t->ndim; i++)
		bytes *= t->shape[i];
	memset((char *)t->data + bytes, 0x5a, 64);
	return 0;
}
