#ifndef MSD_SUPERVISOR_MODULE_PROBATION_H
#define MSD_SUPERVISOR_MODULE_PROBATION_H
/*
 * Whether a module that has taken another's place holds: a step without a clock. It is
 * watched for a while, in which it has failed when
 *
 *  - its workers died three times, or it was given up, by whatever comes first
 *  - half of its calls failed in it, of 20 at least, and twice the share of those that
 *    failed in the one before it: what clients get wrong fails in both
 */
#include <stdbool.h>
#include <stdint.h>

#define MSD_PROBATION_DEATHS 3u
#define MSD_PROBATION_CALLS 20u

enum msd_probation_verdict {
	MSD_PROBATION_GOES_ON,
	MSD_PROBATION_PROVEN,
	MSD_PROBATION_FAILED,
	MSD_PROBATION_BROKEN_OFF /* its end was asked for: it says nothing */
};

/* What is known of the module at a time; counts since it was loaded. */
struct msd_probation_facts {
	uint64_t now_ms;
	uint64_t n_calls, n_failed; /* of these, those that failed in its code */
	uint32_t n_deaths;
	bool is_given_up; /* FAILED or QUARANTINED */
	bool is_ending;
};

struct msd_probation {
	bool is_on;
	uint64_t until_ms;
	struct msd_probation_facts at_begin;
	uint32_t usual_permille; /* of calls that failed in the one before */
};

/** Of 1000 calls so many failed; 0 when there were none. */
uint32_t msd_probation_share(uint64_t n_failed, uint64_t n_calls);
/** Watch it for @for_ms from @now on. */
void msd_probation_begin(struct msd_probation *p, uint64_t for_ms,
			 const struct msd_probation_facts *now);
/** What is to be thought of it; any verdict but GOES_ON ends the watch. */
enum msd_probation_verdict msd_probation_judge(struct msd_probation *p,
					       const struct msd_probation_facts *now);

#endif
