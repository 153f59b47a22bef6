/*
 * Happy path: one call that is not counted; then the series, each after its
 * preparation. A series that was too short is repeated with more calls. Failures: a
 * call that fails ends the measurement with its error.
 */
#include "runtime/load/measure.h"

#define MOST_CALLS (UINT64_MAX / 4)

static msd_err run_series(const struct msd_measured *of, uint64_t number,
			  uint64_t *ret_ns, struct msd_diag *d)
{
	msd_err err;

	if (of->flush != NULL)
		of->flush(of->ctx);
	err = of->sync(of->ctx, d);
	const uint64_t begin = of->now_ns(of->ctx);
	for (uint64_t i = 0; i < number && err == MSD_OK; i++)
		err = of->call(of->ctx, d);
	if (err == MSD_OK)
		err = of->sync(of->ctx, d);
	*ret_ns = of->now_ns(of->ctx) - begin;
	return err;
}

/* TVM's rule: so many calls as the last series says, or 1.618 times as many. */
static uint64_t grow(uint64_t number, uint64_t ns, uint64_t min_ms)
{
	const double ms = (double)ns / 1e6;
	const double wanted = (double)min_ms / (ms / (double)number) + 1;
	const double more = (double)number * 1.618;
	const double next = wanted > more ? wanted : more;

	return next < (double)MOST_CALLS ? (uint64_t)next : MOST_CALLS;
}

static msd_err run_repeat(const struct msd_measure *m, const struct msd_measured *of,
			  uint64_t *number, double *ret_s, struct msd_diag *d)
{
	uint64_t ns = 0, n_zero = 0;
	msd_err err;

	do {
		if (ns > 0)
			*number = grow(*number, ns, m->min_repeat_ms);
		err = run_series(of, *number, &ns, d);
		n_zero += ns == 0;
	} while (err == MSD_OK && ns < m->min_repeat_ms * 1000000 &&
		 n_zero < m->limit_zero);
	*ret_s = (double)ns / 1e9 / (double)*number;
	return err;
}

msd_err msd_measure_run(const struct msd_measure *m, const struct msd_measured *of,
			double *ret_s, struct msd_diag *d)
{
	uint64_t number = m->number;
	msd_err err = of->call(of->ctx, d); /* the first call may be slow */

	for (uint64_t i = 0; i < m->repeat && err == MSD_OK; i++) {
		if (of->prepare != NULL)
			err = of->prepare(of->ctx, d);
		if (err == MSD_OK)
			err = run_repeat(m, of, &number, &ret_s[i], d);
		if (err == MSD_OK && m->cooldown_ms > 0 &&
		    (i + 1) % m->repeats_to_cooldown == 0)
			of->cool_down(of->ctx, m->cooldown_ms);
	}
	return err;
}
