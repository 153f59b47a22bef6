#include "daemon/supervisor/edge/proof.h"

#include "daemon/supervisor/fetch/fetched.h"
#include "daemon/supervisor/fetch/fetcher.h"
#include "daemon/supervisor/module/catalog.h"
#include "daemon/supervisor/module/trial_case.h"

msd_err msd_proof_take(const struct msd_fetch *f, struct msd_load *how,
		       struct msd_diag *d)
{
	uint32_t n;

	if (f->got == NULL || f->got->tests.n == 0)
		return MSD_OK;
	if (f->got->warmup > MSD_TRIAL_WARMUP) {
		return msd_diag_set(
			d, MSD_TOO_LARGE, "the manifest: warmup %llu: at most %u",
			(unsigned long long)f->got->warmup, MSD_TRIAL_WARMUP);
	}
	how->tests = f->got->tests;
	how->warmup = (uint32_t)f->got->warmup;
	return msd_diag_wrap(d, msd_trial_check(how->tests, &n, d), "the manifest");
}
