#ifndef MSD_SUPERVISOR_CANARY_H
#define MSD_SUPERVISOR_CANARY_H

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

#include "store/digest.h"

/* The last failed edition: one that was to replace a module, or had replaced it. Kept
 * for status output while the module serves. */

struct msd_failed_edition {
	char *why; /* error text, owned; NULL: none failed */
	bool has_digest;
	struct msd_digest digest;
	uint64_t section; /* configuration section that loaded it; 0: none */
};

/**
 * Note that the edition of @digest failed for @why; @digest is NULL if its bytes
 * never arrived.
 */
void msd_failed_edition_note(struct msd_failed_edition *s,
			     const struct msd_digest *digest, const char *why);
void msd_failed_edition_finish(struct msd_failed_edition *s);

#define MSD_CANARY_DEATHS 3u
#define MSD_CANARY_CALLS 20u

enum msd_canary_verdict {
	MSD_CANARY_GOES_ON,
	MSD_CANARY_PROVEN,
	MSD_CANARY_FAILED,
	MSD_CANARY_BROKEN_OFF /* the module is being unloaded: no result */
};

/* State of the module at one time; counts start at its load. */
struct msd_canary_facts {
	uint64_t now_ms;
	uint64_t n_calls, n_failed; /* n_failed: calls that failed in its code */
	uint32_t n_deaths;
	bool is_given_up; /* FAILED or QUARANTINED */
	bool is_ending;
};

struct msd_canary {
	bool is_on;
	uint64_t until_ms;
	struct msd_canary_facts at_begin;
	uint32_t usual_permille; /* share of calls that failed in its predecessor */
};

/** Return the failed calls per 1000; 0 without calls. */
uint32_t msd_canary_share(uint64_t n_failed, uint64_t n_calls);
/** Watch the module for @for_ms, starting at @now. */
void msd_canary_begin(struct msd_canary *p, uint64_t for_ms,
		      const struct msd_canary_facts *now);
/** Return the verdict; any verdict but GOES_ON ends the watch. */
enum msd_canary_verdict msd_canary_judge(struct msd_canary *p,
					 const struct msd_canary_facts *now);

#endif
