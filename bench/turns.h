#ifndef MSD_BENCH_TURNS_H
#define MSD_BENCH_TURNS_H
/*
 * Two ways to do one thing in one process, measured in turns, so that what the machine
 * does meanwhile hits both alike.
 */
#include <stdbool.h>

#define BENCH_MAX_ROUNDS 1000

/* What is measured: both run it once and return the microseconds that it took. */
struct bench_turn {
	const char *what; /* printed in front */
	double per;       /* things done in one run: the times printed are of one */
	double (*plain)(void *ctx, int which, void *host);
	double (*ours)(void *ctx, int which, void *host);
	void *plain_ctx, *ours_ctx;
	int which; /* passed on, as is @host */
	void *host;
};

/** Microseconds of the monotonic clock. */
double bench_now_us(void);
/** Rounds that the command line asks for: 101 without, at most BENCH_MAX_ROUNDS. */
int bench_rounds(int argc, char **argv);
/** End the program with @text. */
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
