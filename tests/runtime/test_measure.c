/* A measurement by a clock that only its calls advance. */
#include <criterion/criterion.h>

#include "runtime/load/measure.h"

struct clock {
	uint64_t ns, each_ns;
	int fails_at; /* this call fails; 0: none */
	int n_calls, n_prepared, n_flushed, n_synced, n_cooled;
};

static msd_err tick(void *ctx, struct msd_diag *d)
{
	struct clock *c = ctx;

	(void)d;
	c->n_calls++;
	c->ns += c->each_ns;
	return c->n_calls == c->fails_at ? MSD_CALL_FAILED : MSD_OK;
}

static msd_err note_prepared(void *ctx, struct msd_diag *d)
{
	(void)d;
	((struct clock *)ctx)->n_prepared++;
	return MSD_OK;
}

static void note_flush(void *ctx)
{
	((struct clock *)ctx)->n_flushed++;
}

static msd_err note_sync(void *ctx, struct msd_diag *d)
{
	(void)d;
	((struct clock *)ctx)->n_synced++;
	return MSD_OK;
}

static uint64_t read_clock(void *ctx)
{
	return ((struct clock *)ctx)->ns;
}

static void note_cool_down(void *ctx, uint64_t ms)
{
	((struct clock *)ctx)->n_cooled += (int)ms;
}

static msd_err run(const struct msd_measure *m, struct clock *c, double *ret)
{
	const struct msd_measured of = {tick,      note_prepared, note_flush,
					note_sync, read_clock,    note_cool_down,
					c};

	return msd_measure_run(m, &of, ret, NULL);
}

static struct clock measure(struct msd_measure m, uint64_t each_ns, double *ret)
{
	struct clock c = {.each_ns = each_ns};

	cr_assert_eq(run(&m, &c, ret), MSD_OK);
	return c;
}

Test(measure, a_time_is_the_mean_of_a_series)
{
	double s[4];
	const struct clock c = measure((struct msd_measure){.number = 5,
							    .repeat = 4,
							    .limit_zero = 100,
							    .cooldown_ms = 7,
							    .repeats_to_cooldown = 2},
				       1000, s);

	cr_expect_eq(c.n_calls, 1 + 4 * 5); /* the first is not counted */
	cr_expect_eq(c.n_prepared, 4);
	cr_expect_eq(c.n_flushed, 4);
	cr_expect_eq(c.n_synced, 2 * 4);
	cr_expect_eq(c.n_cooled, 2 * 7);
	for (int i = 0; i < 4; i++)
		cr_expect_float_eq(s[i], 1e-6, 1e-12);
}

Test(measure, a_short_series_is_repeated_with_more_calls)
{
	double s[2];
	const struct msd_measure t = {.number = 1,
				      .repeat = 2,
				      .min_repeat_ms = 1,
				      .limit_zero = 100,
				      .repeats_to_cooldown = 1};
	struct clock c = measure(t, 1000, s);

	/* One call takes 1 us, so the next series has 1001; the number stays. */
	cr_expect_eq(c.n_calls, 1 + 1 + 1001 + 1001);
	cr_expect_eq(c.n_prepared, 2);
	cr_expect_eq(c.n_flushed, 3);
	c = measure(t, 0, s); /* a clock that stands still */
	cr_expect_eq(c.n_calls, 1 + 2 * 100);
}

Test(measure, a_call_that_fails_is_the_last)
{
	const struct msd_measure m = {
		.number = 3, .repeat = 2, .limit_zero = 100, .repeats_to_cooldown = 1};
	double s[2];

	for (int at = 1; at <= 1 + 2 * 3; at++) {
		struct clock c = {.each_ns = 1000, .fails_at = at};
		cr_expect_eq(run(&m, &c, s), MSD_CALL_FAILED);
		cr_expect_eq(c.n_calls, at);
	}
}
