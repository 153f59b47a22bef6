#include "tests/daemon/kept_program.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void copy_program(const char *program, int to)
{
	static uint8_t bytes[1u << 22];
	const int from = open(program, O_RDONLY | O_CLOEXEC);
	const ssize_t n = read(from, bytes, sizeof(bytes));

	cr_assert_gt(n, 0);
	cr_assert_eq(write(to, bytes, (size_t)n), n);
	cr_assert_eq(fchmod(to, 0700), 0);
	(void)close(from);
}

void keep_program(struct kept_program *k, const char *program)
{
	*k = (struct kept_program){.path = KEPT_PROGRAM_PATH};
	const int to = mkstemp(k->path);

	copy_program(program, to);
	(void)close(to);
	(void)signal(SIGIO, SIG_IGN); /* which asks for it back */
	k->lease = open(k->path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(k->lease, 0);
	if (fcntl(k->lease, F_SETLEASE, F_WRLCK) == 0)
		return;
	drop_program(k);
	cr_skip_test("no lease of a file in /tmp can be had");
}

void let_program_go(struct kept_program *k)
{
	if (k->lease >= 0)
		(void)close(k->lease);
	k->lease = -1;
}

void drop_program(struct kept_program *k)
{
	let_program_go(k);
	(void)unlink(k->path);
}
