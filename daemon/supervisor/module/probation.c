#include "daemon/supervisor/module/probation.h"

uint32_t msd_probation_share(uint64_t n_failed, uint64_t n_calls)
{
	return n_calls > 0 ? (uint32_t)(n_failed * 1000 / n_calls) : 0;
}

void msd_probation_begin(struct msd_probation *p, uint64_t for_ms,
			 const struct msd_probation_facts *now)
{
	p->is_on = true;
	p->until_ms = now->now_ms + for_ms;
	p->at_begin = *now;
}

static bool fails_often(const struct msd_probation *p,
			const struct msd_probation_facts *now)
{
	const uint64_t n_calls = now->n_calls - p->at_begin.n_calls;
	const uint32_t share =
		msd_probation_share(now->n_failed - p->at_begin.n_failed, n_calls);

	return n_calls >= MSD_PROBATION_CALLS && share >= 500 &&
	       share >= 2 * p->usual_permille;
}

enum msd_probation_verdict msd_probation_judge(struct msd_probation *p,
					       const struct msd_probation_facts *now)
{
	enum msd_probation_verdict verdict = MSD_PROBATION_GOES_ON;

	if (now->is_ending) {
		verdict = MSD_PROBATION_BROKEN_OFF;
	} else if (now->is_given_up ||
		   now->n_deaths - p->at_begin.n_deaths >= MSD_PROBATION_DEATHS ||
		   fails_often(p, now)) {
		verdict = MSD_PROBATION_FAILED;
	} else if (now->now_ms >= p->until_ms) {
		verdict = MSD_PROBATION_PROVEN;
	}
	p->is_on = verdict == MSD_PROBATION_GOES_ON;
	return verdict;
}
