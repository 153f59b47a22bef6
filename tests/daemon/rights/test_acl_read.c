#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/supervisor/rights/acl_file.h"
#include "daemon/supervisor/rights/acl_read.h"

#define HEX "2bd806c97f0e00af1a1fc3328fa763a9269723c8db8fac4f93af71db186d6e90"

static struct msd_acl *acl;
static struct msd_diag d;

static msd_err parse(const char *text)
{
	msd_acl_destroy(acl);
	acl = NULL;
	msd_diag_finish(&d);
	d = (struct msd_diag){0};
	return msd_acl_parse("f.acl", msd_span_of(text), &acl, &d);
}

/* @lines, and the last one. */
static msd_err parse_lines(const char *lines)
{
	char *text = NULL;

	cr_assert_geq(asprintf(&text, "%s\nend\n", lines), 0);
	const msd_err err = parse(text);
	free(text);
	return err;
}

static void end(void)
{
	msd_acl_destroy(acl);
	msd_diag_finish(&d);
}

/* @lines are refused, and what is said begins with @begin and has @part. */
static void expect_refusal(const char *lines, const char *begin, const char *part)
{
	cr_expect_eq(parse_lines(lines), MSD_BAD_REQUEST, "%.60s", lines);
	cr_expect_null(acl);
	cr_expect_eq(strncmp(msd_diag_text(&d), begin, strlen(begin)), 0, "%s",
		     msd_diag_text(&d));
	cr_expect_not_null(strstr(msd_diag_text(&d), part), "%s", msd_diag_text(&d));
}

TestSuite(acl_read, .fini = end);

Test(acl_read, takes_users_and_groups_with_all_that_a_line_may_have)
{
	cr_assert_eq(
		parse_lines("# who\n\n"
			    "user alice cert:cn=\"Alice B\" cert:san=a.example uid=7 "
			    "+@lookup +@call resnet18/* digits/main # comment\r\n"
			    "user fleet token:sha256=" HEX " cert:sha256=" HEX
			    " +@all -@admin */*\n"
			    "group gpu\tgid=44 +@load team-*/*"),
		MSD_OK, "%s", msd_diag_text(&d));
	cr_assert_eq(acl->users.n, 2);
	cr_assert_eq(acl->groups.n, 1);
	const struct msd_acl_line *alice = &acl->users.each[0];
	cr_expect_str_eq(alice->name, "alice");
	cr_expect_eq(alice->line, 3);
	cr_expect_eq(alice->n_credentials, 3);
	cr_expect(msd_span_is(alice->credentials[0].text, "Alice B"));
	cr_expect_eq(alice->n_names, 2);
	cr_expect(msd_span_is(alice->names[1].module, "digits"));
	cr_expect(msd_span_is(alice->names[1].function, "main"));
	cr_expect_eq(alice->rights, 1u << MSD_RIGHT_LOOKUP | 1u << MSD_RIGHT_CALL);
	cr_expect_eq(acl->users.each[1].rights,
		     1u << MSD_RIGHT_LOOKUP | 1u << MSD_RIGHT_CALL |
			     1u << MSD_RIGHT_LOAD | 1u << MSD_RIGHT_READ);
	cr_expect_eq(acl->groups.each[0].credentials[0].number, 44);
}

Test(acl_read, takes_limits_of_users)
{
	cr_assert_eq(parse_lines("user a uid=1 */* rate=200/s bytes=2K/s "
				 "requests=8 modules=4\nuser b uid=2 */*"),
		     MSD_OK, "%s", msd_diag_text(&d));
	const struct msd_quota *q = &acl->users.each[0].quota;
	cr_expect_eq(q->of[MSD_QUOTA_RATE], 200);
	cr_expect_eq(q->of[MSD_QUOTA_BYTES], 2048);
	cr_expect_eq(q->of[MSD_QUOTA_REQUESTS], 8);
	cr_expect_eq(q->of[MSD_QUOTA_MODULES], 4);
	cr_expect(msd_quota_is_empty(&acl->users.each[1].quota));
	expect_refusal("user a uid=1 rate=200", "f.acl:1: ", "such as rate=200/s");
	expect_refusal("user a uid=1 requests=0", "f.acl:1: ", "such as rate=200/s");
	expect_refusal("user a uid=1 rate=1/s rate=1/s", "f.acl:1: ", "already");
	expect_refusal("group a gid=1 rate=1/s", "f.acl:1: ", "not for groups");
}

Test(acl_read, says_file_and_line_of_what_is_wrong)
{
	expect_refusal("user a uid=1 */*\nuser b uid=2 +@everything\n",
		       "f.acl:2: ", "+@everything");
	expect_refusal("\n\nroot uid=0", "f.acl:3: ", "expected user or group");
	expect_refusal("user a uid=1 resnet18", "f.acl:1: ", "MODULE/FUNCTION");
	expect_refusal("user a uid=1 uid=x", "f.acl:1: ", "expected a number");
	expect_refusal("user a uid=4294967295", "f.acl:1: ", "expected a number");
	expect_refusal("user a uid=99999999999999999999", "f.acl:1: ", "a number");
	expect_refusal("user a token:sha256=12", "f.acl:1: ", "64 digits");
	expect_refusal("user a cert:cn=", "f.acl:1: ", "expected a name");
	expect_refusal("user a uid=1 \"x/y", "f.acl:1: ", "not closed");
	expect_refusal("user a uid=1 \"\" x/y", "f.acl:1: ", "between the quotes");
	expect_refusal("user", "f.acl:1: ", "expected a name");
	expect_refusal("user ../a uid=1", "f.acl:1: ", "expected a name");
	expect_refusal("user operator uid=1", "f.acl:1: ", "own user");
	expect_refusal("user a +@call", "f.acl:1: ", "expected an identity");
	expect_refusal("user a uid=1 speed=200/s",
		       "f.acl:1: ", "not a valid MODULE/FUNCTION");
	expect_refusal("user a uid=1 @call/x",
		       "f.acl:1: ", "not a valid MODULE/FUNCTION");
	expect_refusal("user a uid=1 /main",
		       "f.acl:1: ", "not a valid MODULE/FUNCTION");
}

Test(acl_read, refuses_doubled_users_and_identities)
{
	expect_refusal("user a uid=1 m/f\ngroup a gid=1\n", "f.acl:2: ", "already");
	expect_refusal("user a uid=1 m/f\nuser b uid=1\n", "f.acl:2: ", "already");
	expect_refusal("user a uid=1 uid=1\n", "f.acl:1: ", "already");
	cr_expect_eq(parse_lines("group a gid=1 m/f\ngroup b gid=1 m/f"), MSD_OK,
		     "one may be in several groups");
}

Test(acl_read, keeps_anonymous_for_who_shows_nothing)
{
	cr_expect_eq(parse_lines("user anonymous +@lookup */*"), MSD_OK);
	expect_refusal("user anonymous uid=1 +@lookup\n", "f.acl:1: ", "anonymous");
	expect_refusal("group anonymous gid=1\n", "f.acl:1: ", "anonymous");
}

Test(acl_read, refuses_a_byte_that_is_zero)
{
	static const uint8_t text[] = "user a uid=1 m/f\nuser \0b uid=2\nend\n";

	cr_expect_eq(
		msd_acl_parse("f", (struct msd_span){text, sizeof(text) - 1}, &acl, &d),
		MSD_BAD_REQUEST);
	cr_expect_not_null(strstr(msd_diag_text(&d), "f:2: "));
}

/* "user uK uid=K" for each. */
static void put_users(struct msd_buf *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		msd_buf_printf(b, "user u%u uid=%u */*\n", i, i);
}

Test(acl_read, bounds_lines_identities_names_and_bytes)
{
	struct msd_buf b = {0};

	put_users(&b, MSD_ACL_USERS_MAX);
	msd_buf_put_u8(&b, 0);
	cr_expect_eq(parse_lines((const char *)b.p), MSD_OK);
	b.n--;
	msd_buf_printf(&b, "user more uid=1000000\n%c", 0);
	expect_refusal((const char *)b.p, "f.acl:1025: ", "too many lines");
	b.n = 0;
	msd_buf_printf(&b, "user a");
	for (unsigned i = 0; i <= MSD_ACL_CREDENTIALS_MAX; i++)
		msd_buf_printf(&b, " uid=%u", i);
	msd_buf_put_u8(&b, 0);
	expect_refusal((const char *)b.p, "f.acl:1: ", "too many identities");
	b.n = 0;
	msd_buf_printf(&b, "user a uid=1");
	for (unsigned i = 0; i <= MSD_ACL_NAMES_MAX; i++)
		msd_buf_printf(&b, " m/f");
	msd_buf_put_u8(&b, 0);
	expect_refusal((const char *)b.p, "f.acl:1: ", "too many names");
	b.n = 0;
	while (b.n <= MSD_ACL_FILE_MAX)
		msd_buf_printf(&b, "%s", "# nothing is said here\n");
	msd_buf_put_u8(&b, 0);
	expect_refusal((const char *)b.p, "f.acl:", "bytes");
	msd_buf_finish(&b);
}

Test(acl_read, makes_one_star_of_very_many)
{
	struct msd_buf b = {0};

	msd_buf_printf(&b, "user a uid=1 ");
	for (unsigned i = 0; i < 100000; i++)
		msd_buf_put_u8(&b, '*');
	msd_buf_printf(&b, "/m*%c", 0);
	cr_assert_eq(parse_lines((const char *)b.p), MSD_OK);
	cr_expect(msd_span_is(acl->users.each[0].names[0].module, "*"));
	msd_buf_finish(&b);
}

Test(acl_read, refuses_patterns_that_no_name_is_long_enough_for)
{
	struct msd_buf b = {0};

	msd_buf_printf(&b, "user a uid=1 */");
	for (unsigned i = 0; i <= MSD_MAX_FUNC_NAME_BYTES; i++)
		msd_buf_printf(&b, "*a");
	msd_buf_put_u8(&b, 0);
	expect_refusal((const char *)b.p, "f.acl:1: ", "not a valid MODULE/FUNCTION");
	msd_buf_finish(&b);
}

/* A part of a file may say more than the whole: a right that a later word takes back,
 * names that bound a line. */
Test(acl_read, refuses_every_proper_prefix)
{
	static const char *const files[] = {
		"user a uid=17 cert:cn=\"x y\" +@call m*/f\n"
		"group g gid=4 token:sha256=" HEX " a/*\nend\n",
		"user a uid=1 +@all -@admin -@load */* mine/*\nend\n",
		"user end uid=1 +@call end/end\nuser b uid=2 +@all \"end/end\"\r\n"
		"\n# end\n \t end \r\n",
		"end\n"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const size_t n_bytes = strlen(files[i]);

		for (size_t n = 0; n <= n_bytes; n++) {
			char *exact = malloc(n + 1);
			cr_assert_not_null(exact);
			memcpy(exact, files[i], n);
			msd_acl_destroy(acl);
			acl = NULL;
			const msd_err err = msd_acl_parse(
				"f", (struct msd_span){(const uint8_t *)exact, n}, &acl,
				&d);
			cr_expect_eq(err, n == n_bytes ? MSD_OK : MSD_BAD_REQUEST,
				     "%zu of file %zu", n, i);
			free(exact);
		}
	}
}

Test(acl_read, of_a_cut_file_names_the_file_and_the_remedy)
{
	static const char *const cut[] = {"", "user a uid=1 +@all m/f\n",
					  "user a uid=1 +@all m/f\nend",
					  "user a uid=1 +@all m/f\nend # of it\n"};

	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		cr_expect_eq(parse(cut[i]), MSD_BAD_REQUEST, "%s", cut[i]);
		cr_expect_eq(strncmp(msd_diag_text(&d), "f.acl:", 6), 0);
		cr_expect_not_null(
			strstr(msd_diag_text(&d), "modser acl upgrade f.acl"), "%s",
			msd_diag_text(&d));
	}
	expect_refusal("user a uid=1 m/f\nend\nuser b uid=2 m/f",
		       "f.acl:2: ", "lines follow");
}

Test(acl_read, wants_names_on_each_line)
{
	expect_refusal("user a uid=1 +@all", "f.acl:1: ", "MODULE/FUNCTION");
	expect_refusal("user a uid=1 rate=200/s", "f.acl:1: ", "*/* for all");
	expect_refusal("group g gid=1 +@call", "f.acl:1: ", "*/* for all");
}

Test(acl_read, of_a_file_wants_one_that_others_cannot_write)
{
	char path[] = "/tmp/msd-acl.XXXXXX";
	const int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "user a uid=1 m/f\nend\n", 21), 21);
	cr_expect_eq(msd_acl_read(path, &acl, &d), MSD_OK);
	cr_expect_str_eq(acl->file, path);
	cr_assert_eq(fchmod(fd, 0666), 0);
	struct msd_acl *other = NULL;
	cr_expect_eq(msd_acl_read(path, &other, &d), MSD_REFUSED);
	cr_expect_null(other);
	cr_expect_eq(msd_acl_read("/tmp", &other, &d), MSD_REFUSED);
	(void)unlink(path);
	(void)close(fd);
	cr_expect_eq(msd_acl_read(path, &other, &d), MSD_IO);
}
