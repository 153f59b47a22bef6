#ifndef MSD_SUPERVISOR_MODULE_PROBATION_H
#define MSD_SUPERVISOR_MODULE_PROBATION_H
/*
 * Canary check of a module that replaced another, a step without a clock. During its
 * watch period, the module fails if one of these is true:
 *
 *   - its workers died three times, or it was given up for any cause
 *   - half of its calls failed in its code, of at least 20, and twice the share that
 *     failed in its predecessor: mistakes of clients fail in both
 */
#include <stdbool.h>
#include <stdint.h>

#define MSD_PROBATION_DEATHS 3u
#define MSD_PROBATION_CALLS 20u

enum msd_probation_verdict {
	MSD_PROBATION_GOES_ON,
	MSD_PROBATION_PROVEN,
	MSD_PROBATION_FAILED,
	MSD_PROBATION_BROKEN_OFF /* the module is being unloaded: no result */
};

/* State of the module at one time; counts start at its load. */
struct msd_probation_facts {
	uint64_t now_ms;
	uint64_t n_calls, n_failed; /* n_failed: calls that failed in its code */
	uint32_t n_deaths;
	bool is_given_up; /* FAILED or QUARANTINED */
	bool is_ending;
};

struct msd_probation {
	bool is_on;
	uint64_t until_ms;
	struct msd_probation_facts at_begin;
	uint32_t usual_permille; /* share of calls that failed in its predecessor */
};

/** Return the failed calls per 1000; 0 without calls. */
uint32_t msd_probation_share(uint64_t n_failed, uint64_t n_calls);
/** Watch the module for @for_ms, starting at @now. */
void msd_probation_begin(struct msd_probation *p, uint64_t for_ms,
			 const struct msd_probation_facts *now);
/** Return the verdict; any verdict but GOES_ON ends the watch. */
enum msd_probation_verdict msd_probation_judge(struct msd_probation *p,
					       const struct msd_probation_facts *now);

#endif
