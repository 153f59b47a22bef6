#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/cli/model/rewrite.h"
#include "client/cli/values/file.h"
#include "client/cli/verbs/acl_upgrade.h"
#include "daemon/supervisor/rights/acl_read.h"

static struct msd_buf text, told;
static struct msd_diag d;
static struct msd_acl *acl;

static msd_err upgrade(const char *old)
{
	text.n = told.n = 0;
	msd_diag_finish(&d);
	d = (struct msd_diag){0};
	return msd_acl_upgrade("f", msd_span_of(old), &text, &told, &d);
}

/* @old becomes @now, which the daemon takes, and which needs no upgrade. */
static void expect_text(const char *old, const char *now)
{
	char *copy = strdup(now);

	cr_expect_eq(upgrade(old), MSD_OK, "%s", msd_diag_text(&d));
	cr_expect(msd_span_is((struct msd_span){text.p, text.n}, now), "%.*s",
		  (int)text.n, (const char *)text.p);
	cr_expect_eq(msd_acl_parse("f", msd_span_of(now), &acl, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	msd_acl_destroy(acl);
	acl = NULL;
	cr_expect_eq(upgrade(copy), MSD_OK);
	cr_expect(msd_span_is((struct msd_span){text.p, text.n}, now));
	cr_expect_eq(told.n, 0);
	free(copy);
}

static void end(void)
{
	msd_buf_finish(&text);
	msd_buf_finish(&told);
	msd_diag_finish(&d);
}

TestSuite(acl_upgrade, .fini = end);

Test(acl_upgrade, says_all_names_where_none_were_said_and_ends_the_file)
{
	expect_text("", "end\n");
	expect_text("user a uid=1 +@call\n", "user a uid=1 +@call */*\nend\n");
	expect_text("user a uid=1 +@call m/f\n", "user a uid=1 +@call m/f\nend\n");
	expect_text("# of us\n\n\tgroup g gid=1  +@all -@admin \t# most\r\n"
		    "user a \"cert:cn=x/y #\" rate=200/s #m/f\n",
		    "# of us\n\n\tgroup g gid=1  +@all -@admin */* \t# most\r\n"
		    "user a \"cert:cn=x/y #\" rate=200/s */* #m/f\nend\n");
	expect_text(
		"user a uid=1 +@call \"m/f g\"\nuser anonymous +@lookup\nend\n",
		"user a uid=1 +@call \"m/f g\"\nuser anonymous +@lookup */*\nend\n");
}

Test(acl_upgrade, tells_what_it_added)
{
	cr_assert_eq(upgrade("user a uid=1 m/f\n\nuser b uid=2 +@call\n"), MSD_OK);
	msd_buf_put_u8(&told, 0);
	cr_expect_str_eq((const char *)told.p,
			 "f:3: user b: added */*, as the line had no names\n"
			 "f:4: added the last line, end\n");
}

Test(acl_upgrade, refuses_a_file_that_may_be_cut)
{
	static const char old[] = "user a uid=1 +@all -@admin mine/* yours/f\n";

	for (size_t n = 1; n < sizeof(old) - 1; n++) {
		char *part = strndup(old, n);
		cr_expect_eq(upgrade(part), MSD_BAD_REQUEST, "%s", part);
		free(part);
	}
	cr_expect_not_null(strstr(msd_diag_text(&d), "f:1: "));
	cr_expect_eq(upgrade("user a \"uid=1\n"), MSD_BAD_REQUEST);
}

Test(acl_upgrade, keeps_mode_and_links_and_leaves_nothing_behind)
{
	char folder[] = "/tmp/msd-upgrade.XXXXXX", path[64], name[64];
	const struct msd_span was = msd_span_of("old"), is = msd_span_of("newer");
	struct stat st;

	cr_assert_not_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/f", folder);
	(void)snprintf(name, sizeof(name), "%s/link", folder);
	cr_assert_eq(msd_file_write(path, &was, 1, &d), MSD_OK);
	cr_assert_eq(chmod(path, 0640), 0);
	cr_assert_eq(symlink("f", name), 0);
	cr_expect_eq(msd_rewrite(name, is, &d), MSD_OK, "%s", msd_diag_text(&d));
	cr_expect_eq(lstat(name, &st), 0);
	cr_expect(S_ISLNK(st.st_mode));
	cr_expect_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0640);
	cr_expect_eq(msd_file_read(path, &text, &d), MSD_OK);
	cr_expect(msd_span_same((struct msd_span){text.p, text.n}, is));
	cr_expect_eq(unlink(name) | unlink(path) | rmdir(folder), 0,
		     "nothing else is there");
	cr_expect_eq(msd_rewrite(path, is, &d), MSD_IO);
}
