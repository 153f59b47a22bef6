#ifndef MSD_SUPERVISOR_RUN_LIMIT_H
#define MSD_SUPERVISOR_RUN_LIMIT_H

/*
 * Limit how long a worker runs one request. A running function cannot be stopped, so
 * its worker is killed. The decision uses plain numbers; run_watch.c inspects the
 * worker, asks, and has it killed.
 *
 *   any request                        up to max-run
 *   past its deadline, or abandoned    up to the grace time, counted from then and
 *   by a client with abandon: "kill"   from its start
 *   abandoned by its client otherwise  while no request waits behind it; then up to
 *                                      the grace time plus twice the usual time
 */

#include <stdbool.h>
#include <stdint.h>

#define MSD_RUN_LOOK_MS 100u        /* for abandoned requests */
#define MSD_RUN_LOOK_MOST_MS 60000u /* for all requests: limits may change */

/* The verdict. */
enum msd_run_end {
	MSD_RUN_GOES_ON,
	MSD_RUN_OVERDUE,  /* not done by its deadline and the grace time */
	MSD_RUN_IN_WAY,   /* abandoned, and other requests wait behind it */
	MSD_RUN_TOO_LONG, /* exceeds max-run */
	MSD_RUN_END_COUNT
};

/* The request that a worker runs. */
struct msd_run_facts {
	uint64_t ran_ms;
	uint64_t left_ms;  /* since it was abandoned, if it was */
	uint64_t usual_ms; /* usual time of such calls; 0: unknown */
	bool is_left;
	bool is_over;      /* abandoned by a deadline, or with abandon: "kill" */
	bool keeps_others; /* other requests wait behind it */
};

struct msd_run_terms {
	uint64_t most_ms; /* 0: unlimited */
	uint64_t grace_ms;
};

/** Decide if @r may continue; *@ret_again_ms is when to ask again, more than 0. */
enum msd_run_end msd_run_judge(const struct msd_run_facts *r,
			       const struct msd_run_terms *t, uint64_t *ret_again_ms);

#endif
