#include "daemon/supervisor/edge/uploads/manifest_tests.h"

#include "daemon/supervisor/fetch/fetched.h"
#include "daemon/supervisor/fetch/fetcher.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/life/self_test_case.h"

msd_err msd_manifest_tests_read(const struct msd_fetch *f, struct msd_load *how,
				struct msd_diag *d)
{
	uint32_t n;

	if (f->got == NULL || f->got->tests.n == 0)
		return MSD_OK;
	if (f->got->warmup > MSD_SELF_TEST_WARMUP) {
		return msd_diag_set(
			d, MSD_TOO_LARGE, "the manifest: warmup %llu: at most %u",
			(unsigned long long)f->got->warmup, MSD_SELF_TEST_WARMUP);
	}
	how->tests = f->got->tests;
	how->warmup = (uint32_t)f->got->warmup;
	return msd_diag_wrap(d, msd_self_test_check(how->tests, &n, d), "the manifest");
}
