#ifndef MSD_SUPERVISOR_RUN_STEP_H
#define MSD_SUPERVISOR_RUN_STEP_H
/*
 * How long a worker may run one request: a function that runs cannot be stopped, so its
 * worker is ended. The decision is one over plain numbers; run_watch.c looks at the
 * worker, asks, and has it ended.
 *
 *   any request                        for as long as max-run says
 *   past its deadline, or left by a    for the grace, counted from then and from when
 *   client with abandon: "kill"        it was begun
 *   left by its client otherwise       for as long as no others wait behind it; then
 *                                      for the grace and twice what such calls take
 */
#include <stdbool.h>
#include <stdint.h>

#define MSD_RUN_LOOK_MS 100u        /* at what runs for nobody, for who waits behind */
#define MSD_RUN_LOOK_MOST_MS 60000u /* at anything: terms may change meanwhile */

/* What becomes of it. */
enum msd_run_end {
	MSD_RUN_GOES_ON,
	MSD_RUN_OVERDUE,  /* it is not done by its deadline and the grace */
	MSD_RUN_IN_WAY,   /* nobody waits for it, and others wait behind it */
	MSD_RUN_TOO_LONG, /* nothing may run for longer */
	MSD_RUN_END_COUNT
};

/* What a worker runs. */
struct msd_run_facts {
	uint64_t ran_ms;
	uint64_t left_ms;  /* of one that is left: since nobody waits for it */
	uint64_t usual_ms; /* what such calls take; 0: it is not known */
	bool is_left;
	bool is_over;      /* left by a deadline, or to be ended when it is left */
	bool keeps_others; /* they wait behind it */
};

struct msd_run_terms {
	uint64_t most_ms; /* 0: as long as it likes */
	uint64_t grace_ms;
};

/** Whether @r may go on; *@ret_again_ms is when to ask again, more than 0. */
enum msd_run_end msd_run_judge(const struct msd_run_facts *r,
			       const struct msd_run_terms *t, uint64_t *ret_again_ms);

#endif
