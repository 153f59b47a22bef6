/* Every allocation of a load and of a call fails once: an error, no leak, no crash. */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/load/loaded.h"
#include "tests/runtime/support.h"
#include "tests/support/fail_alloc.h"

#define MAX_ALLOCATIONS 5000

static void expect_loads_without_leaks(const char *path)
{
	const struct msd_load_options options = {.label = "t.so",
						 .probe_signatures = true};
	struct msd_loaded *loaded;
	struct msd_diag d = {0};
	struct lib lib;
	bool has_failed = true;

	lib_must_open(&lib, path); /* for its bytes; also what is allocated only once */
	for (long k = 0; has_failed && k < MAX_ALLOCATIONS; k++) {
		msd_fail_alloc(k);
		msd_err err = msd_loaded_open(lib.fd, lib.file, &options, &loaded, &d);
		has_failed = msd_fail_alloc_stop();
		/* Probing may also leave a signature unknown. */
		cr_assert(err == MSD_OK || err == MSD_NOMEM, "allocation %ld: %s", k,
			  msd_diag_text(&d));
		cr_assert(has_failed || err == MSD_OK);
		if (err == MSD_OK)
			msd_loaded_close(loaded);
	}
	cr_assert_not(has_failed);
	msd_diag_finish(&d);
	lib_close(&lib);
}

Test(memory, failing_loads_leave_nothing_behind)
{
	expect_loads_without_leaks(FIXTURE_DIR "/fixture_modern.so");
	expect_loads_without_leaks(FIXTURE_DIR "/fixture_022.so");
	expect_loads_without_leaks(FIXTURE_DIR "/fixture_classic.so");
	expect_loads_without_leaks(FIXTURE_DIR "/fixture_syslib_classic.so");
}

static void expect_calls_without_leaks(const char *path, const char *name,
				       struct msd_any *args, size_t n, msd_err expected)
{
	struct msd_any ret;
	struct lib lib;
	bool has_failed = true;

	lib_must_open(&lib, path);
	for (long k = 0; has_failed && k < MAX_ALLOCATIONS; k++) {
		msd_fail_alloc(k);
		msd_err err = lib_call(&lib, name, args, n, &ret);
		has_failed = msd_fail_alloc_stop();
		cr_assert(err == expected || err == MSD_NOMEM, "%s", name);
		cr_assert(has_failed || err == expected);
		msd_any_drop(&ret);
	}
	lib_close(&lib);
}

Test(memory, failing_calls_leave_nothing_behind)
{
	struct msd_any args[40];

	for (size_t i = 0; i < 40; i++)
		args[i] = msd_int(0);
	expect_calls_without_leaks(FIXTURE_DIR "/fixture_modern.so", "ret_text", NULL,
				   0, MSD_OK);
	expect_calls_without_leaks(FIXTURE_DIR "/fixture_modern.so", "fail", NULL, 0,
				   MSD_CALL_FAILED);
	expect_calls_without_leaks(FIXTURE_DIR "/fixture_modern.so", "call_missing",
				   NULL, 0, MSD_CALL_FAILED);
	expect_calls_without_leaks(FIXTURE_DIR "/fixture_modern.so", "no_such", NULL, 0,
				   MSD_NOT_FOUND);
	expect_calls_without_leaks(FIXTURE_DIR "/fixture_classic.so", "codes_of", args,
				   40, MSD_OK);
}
