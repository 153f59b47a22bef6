#include <criterion/criterion.h>
#include <string.h>

#include "store/program.h"

TestSuite(program, .timeout = 60);

static msd_err run(const char *script, struct msd_diag *d)
{
	const char *const words[] = {"/bin/sh", "-c", script, NULL};

	return msd_program_run((char *const *)(uintptr_t)words, d);
}

Test(program, that_ends_well_is_believed_whatever_it_says)
{
	struct msd_diag d = {0};

	cr_expect_eq(run("echo NOT_FOUND nothing >&2", &d), MSD_OK);
}

Test(program, what_it_says_is_the_error)
{
	struct msd_diag d = {0};

	cr_expect_eq(
		run("echo 'NOT_FOUND no such model' >&2; echo more >&2; exit 1", &d),
		MSD_NOT_FOUND);
	cr_expect_str_eq(msd_diag_text(&d), "no such model");
	msd_diag_finish(&d);
}

/* A pipe holds 64 KiB, and whoever writes more waits for a reader. */
Test(program, may_say_more_than_a_pipe_holds)
{
	struct msd_diag d = {0};

	cr_expect_eq(run("echo 'NOT_FOUND no such model' >&2; "
			 "head -c 300000 /dev/zero >&2; exit 1",
			 &d),
		     MSD_NOT_FOUND);
	cr_expect_str_eq(msd_diag_text(&d), "no such model");
	msd_diag_finish(&d);
}

Test(program, that_dies_is_named_with_how)
{
	struct msd_diag d = {0};

	cr_expect_eq(run("kill -9 $$", &d), MSD_INTERNAL);
	cr_expect_str_eq(msd_diag_text(&d), "sh died: signal KILL: ");
	cr_expect_eq(run("echo no code >&2; exit 3", &d), MSD_INTERNAL);
	cr_expect_str_eq(msd_diag_text(&d), "sh died: status 3: no code");
	msd_diag_finish(&d);
}

Test(program, that_is_not_there_is_named)
{
	const char *const words[] = {"/nowhere/fetch", NULL};
	struct msd_diag d = {0};

	cr_expect_eq(msd_program_run((char *const *)(uintptr_t)words, &d), MSD_IO);
	cr_expect_str_eq(msd_diag_text(&d),
			 "/nowhere/fetch: No such file or directory");
	msd_diag_finish(&d);
}
