#ifndef MSD_WORKER_ROWS_PACE_H
#define MSD_WORKER_ROWS_PACE_H
/*
 * How long a function takes for so many rows, by how long it took lately: whether a
 * call with a deadline can be joined with others and be done by then (batch.h). By
 * powers of two of rows, for eight rows rarely take eight times as long as one. Plain
 * numbers, no clock.
 */
#include <stdint.h>

#define MSD_ROWS_PACE_PLACES 17u /* up to 65536 rows, and more */
/* A row's time while nothing is known, as before a worker's first call. */
#define MSD_ROWS_PACE_UNKNOWN_NS UINT64_C(1000000000)

struct msd_rows_pace {
	/* Of runs of up to 1, 2, 4... rows: a moving average; 0: there was none. */
	uint64_t ns[MSD_ROWS_PACE_PLACES];
	/* The first one is often much slower than all others: a faster second one
	 * takes its place. */
	uint8_t n[MSD_ROWS_PACE_PLACES]; /* up to two */
};

/** A run of @rows, at least 1, took @ns. */
void msd_rows_pace_note(struct msd_rows_pace *p, uint64_t rows, uint64_t ns);
/** Nanoseconds to expect of one of @rows, at least 1; UINT64_MAX: longer. */
uint64_t msd_rows_pace_expect(const struct msd_rows_pace *p, uint64_t rows);

#endif
