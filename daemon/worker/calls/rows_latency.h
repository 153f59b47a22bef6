#ifndef MSD_WORKER_ROWS_LATENCY_H
#define MSD_WORKER_ROWS_LATENCY_H
/*
 * Estimates how long a function takes for a number of rows, from its recent runs.
 * batch.h uses it to decide if a call with a deadline can be joined with other calls
 * and still finish in time. Grouped by powers of two of rows, because eight rows
 * rarely take eight times as long as one. Plain numbers, no clock.
 */
#include <stdint.h>

#define MSD_ROWS_LATENCY_PLACES 17u /* up to 65536 rows, and more */
/* Time per row while nothing is known, as before a worker's first call. */
#define MSD_ROWS_LATENCY_UNKNOWN_NS UINT64_C(1000000000)

struct msd_rows_latency {
	/* For runs of up to 1, 2, 4... rows: a moving average; 0: no run yet. */
	uint64_t ns[MSD_ROWS_LATENCY_PLACES];
	/* The first run is often much slower than the rest: a faster second run
	 * replaces it. */
	uint8_t n[MSD_ROWS_LATENCY_PLACES]; /* up to two */
};

/** Record that a run of @rows, at least 1, took @ns. */
void msd_rows_latency_note(struct msd_rows_latency *p, uint64_t rows, uint64_t ns);
/** Expected nanoseconds for @rows, at least 1; UINT64_MAX: longer. */
uint64_t msd_rows_latency_expect(const struct msd_rows_latency *p, uint64_t rows);

#endif
