#include "daemon/supervisor/module/life/canary.h"

#include <stdio.h>
#include <stdlib.h>

#define SHOWN_DIGITS 12 /* shown digits of a digest */

void msd_failed_edition_note(struct msd_failed_edition *s,
			     const struct msd_digest *digest, const char *why)
{
	char digits[MSD_DIGEST_TEXT] = "";

	msd_failed_edition_finish(s);
	s->has_digest = digest != NULL;
	if (digest != NULL) {
		s->digest = *digest;
		msd_digest_format(digest, digits);
	}
	if (asprintf(&s->why, "edition %.*s failed: %s", SHOWN_DIGITS,
		     digest != NULL ? digits : "(unread)", why) < 0)
		s->why = NULL;
}

void msd_failed_edition_finish(struct msd_failed_edition *s)
{
	free(s->why);
	*s = (struct msd_failed_edition){0};
}

uint32_t msd_canary_share(uint64_t n_failed, uint64_t n_calls)
{
	return n_calls > 0 ? (uint32_t)(n_failed * 1000 / n_calls) : 0;
}

void msd_canary_begin(struct msd_canary *p, uint64_t for_ms,
		      const struct msd_canary_facts *now)
{
	p->is_on = true;
	p->until_ms = now->now_ms + for_ms;
	p->at_begin = *now;
}

static bool fails_often(const struct msd_canary *p, const struct msd_canary_facts *now)
{
	const uint64_t n_calls = now->n_calls - p->at_begin.n_calls;
	const uint32_t share =
		msd_canary_share(now->n_failed - p->at_begin.n_failed, n_calls);

	return n_calls >= MSD_CANARY_CALLS && share >= 500 &&
	       share >= 2 * p->usual_permille;
}

enum msd_canary_verdict msd_canary_judge(struct msd_canary *p,
					 const struct msd_canary_facts *now)
{
	enum msd_canary_verdict verdict = MSD_CANARY_GOES_ON;

	if (now->is_ending) {
		verdict = MSD_CANARY_BROKEN_OFF;
	} else if (now->is_given_up ||
		   now->n_deaths - p->at_begin.n_deaths >= MSD_CANARY_DEATHS ||
		   fails_often(p, now)) {
		verdict = MSD_CANARY_FAILED;
	} else if (now->now_ms >= p->until_ms) {
		verdict = MSD_CANARY_PROVEN;
	}
	p->is_on = verdict == MSD_CANARY_GOES_ON;
	return verdict;
}
