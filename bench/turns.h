#ifndef MSD_BENCH_TURNS_H
#define MSD_BENCH_TURNS_H
/* Compare two implementations in one process, alternating, so that background load
 * affects both equally. */
#include <stdbool.h>

#define BENCH_MAX_ROUNDS 1000

/* The pair to measure: each runs once and returns its microseconds. */
struct bench_turn {
	const char *what; /* label of the output */
	double per; /* operations in one run: the printed times are per operation */
	double (*plain)(void *ctx, int which, void *host);
	double (*ours)(void *ctx, int which, void *host);
	void *plain_ctx, *ours_ctx;
	int which; /* passed on, like @host */
	void *host;
};

/** Microseconds of the monotonic clock. */
double bench_now_us(void);
/** Rounds from the command line: 101 by default, at most BENCH_MAX_ROUNDS. */
int bench_rounds(int argc, char **argv);
/** Terminate the program with @text. */
_Noreturn void bench_fail(const char *text);

/** The same, unless @ok. */
static inline void bench_must(bool ok, const char *text)
{
	if (!ok)
		bench_fail(text);
}

/** Run both once to warm up, then @rounds times; print medians and their ratio. */
void bench_take_turns(const struct bench_turn *t, int rounds);

#endif
