/* bench_answer ADDRESS FILE: for each HTTP head received, up to its empty line, send
 * FILE's bytes, from one epoll loop. The minimum cost of answering such requests. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/net.h"

#define MAX_FDS 1024
#define MAX_BATCH 64u /* answers of one write */

static uint8_t buffer[1 << 16];
static uint8_t answers[MAX_BATCH * 1024];
static size_t answer_bytes;
static uint8_t matched[MAX_FDS]; /* matched bytes of the empty line, by connection */

/* Count the heads that end in the @n bytes. */
static size_t count_ends(int fd, const uint8_t *bytes, size_t n)
{
	static const char end[] = "\r\n\r\n";
	size_t ends = 0;
	uint8_t at = matched[fd];

	for (size_t i = 0; i < n; i++) {
		at = bytes[i] == (uint8_t)end[at]  ? at + 1
		     : bytes[i] == (uint8_t)end[0] ? 1
						   : 0;
		if (at == 4) {
			at = 0;
			ends++;
		}
	}
	matched[fd] = at;
	return ends;
}

static void serve(int fd)
{
	if (fd >= MAX_FDS)
		bench_die("connections");
	const ssize_t n = read(fd, buffer, sizeof(buffer));
	if (n <= 0) {
		matched[fd] = 0; /* state for the next head */
		(void)close(fd);
		return;
	}
	for (size_t left = count_ends(fd, buffer, (size_t)n); left > 0;) {
		const size_t now = left < MAX_BATCH ? left : MAX_BATCH;
		bench_write_all(fd, answers, now * answer_bytes);
		left -= now;
	}
}

static void read_answer(const char *path)
{
	FILE *f = fopen(path, "re");

	if (f == NULL)
		bench_die(path);
	answer_bytes = fread(answers, 1, 1024, f);
	(void)fclose(f);
	for (size_t i = 1; i < MAX_BATCH; i++)
		memcpy(answers + i * answer_bytes, answers, answer_bytes);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		(void)fprintf(stderr, "usage: bench_answer ADDRESS FILE\n");
		return 2;
	}
	read_answer(argv[2]);
	bench_loop(argv[1], serve);
}
