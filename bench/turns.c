#include "bench/turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double bench_now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int bench_rounds(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 101; /* NOLINT(cert-err34-c) */

	if (rounds < 1)
		return 1;
	return rounds < BENCH_MAX_ROUNDS ? rounds : BENCH_MAX_ROUNDS;
}

void bench_fail(const char *text)
{
	(void)fprintf(stderr, "bench: %s\n", text);
	exit(1);
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[n / 2];
}

void bench_take_turns(const struct bench_turn *t, int rounds)
{
	static double plain[BENCH_MAX_ROUNDS], ours[BENCH_MAX_ROUNDS],
		ratio[BENCH_MAX_ROUNDS];

	(void)t->plain(t->plain_ctx, t->which, t->host);
	(void)t->ours(t->ours_ctx, t->which, t->host);
	for (int i = 0; i < rounds; i++) { /* alternate the order */
		if (i % 2 == 0)
			plain[i] = t->plain(t->plain_ctx, t->which, t->host);
		ours[i] = t->ours(t->ours_ctx, t->which, t->host);
		if (i % 2 != 0)
			plain[i] = t->plain(t->plain_ctx, t->which, t->host);
		ratio[i] = ours[i] / plain[i];
	}
	const double a = median(plain, rounds) / t->per;
	const double b = median(ours, rounds) / t->per;
	(void)printf(
		"%-16s plain %10.2f us  ours %10.2f us  ratio %.3f (of rounds: %.3f)\n",
		t->what, a, b, b / a, median(ratio, rounds));
}
