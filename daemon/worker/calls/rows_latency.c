#include "daemon/worker/calls/rows_latency.h"

static unsigned place_of(uint64_t rows)
{
	unsigned place = 0;

	while (place < MSD_ROWS_LATENCY_PLACES - 1 && (UINT64_C(1) << place) < rows)
		place++;
	return place;
}

static uint64_t times(uint64_t ns, uint64_t n)
{
	return ns <= UINT64_MAX / n ? ns * n : UINT64_MAX;
}

void msd_rows_latency_note(struct msd_rows_latency *p, uint64_t rows, uint64_t ns)
{
	const unsigned at = place_of(rows);
	const uint64_t before = p->ns[at];

	if (p->n[at] == 0 || (p->n[at] == 1 && ns < before)) {
		p->ns[at] = ns + 1;
	} else {
		p->ns[at] = before - before / 4 + ns / 4 + 1;
	}
	if (p->n[at] < 2)
		p->n[at]++;
}

/* Estimate from the nearest run of fewer rows, at its time per row. */
static uint64_t expect_of_fewer(const struct msd_rows_latency *p, uint64_t rows)
{
	for (unsigned i = place_of(rows); i-- > 0;) {
		if (p->n[i] > 0)
			return times(p->ns[i], (rows + (UINT64_C(1) << i) - 1) >> i);
	}
	return UINT64_MAX;
}

static uint64_t expect_of_more(const struct msd_rows_latency *p, uint64_t rows)
{
	for (unsigned i = place_of(rows) + 1; i < MSD_ROWS_LATENCY_PLACES; i++) {
		if (p->n[i] > 0)
			return p->ns[i];
	}
	return UINT64_MAX;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t msd_rows_latency_expect(const struct msd_rows_latency *p, uint64_t rows)
{
	const unsigned at = place_of(rows);
	const uint64_t fewer_ns = expect_of_fewer(p, rows);

	/* A slow first run is tried again if fewer rows have been faster: otherwise a
	 * second run of that size might never happen. */
	if (p->n[at] > 0)
		return least(p->ns[at], times(fewer_ns, 2));
	const uint64_t known_ns = least(fewer_ns, expect_of_more(p, rows));
	return known_ns < UINT64_MAX ? known_ns
				     : times(MSD_ROWS_LATENCY_UNKNOWN_NS, rows);
}
