#include <criterion/criterion.h>
#include <stdlib.h>

#include "daemon/fetch/uri.h"

static msd_err read_uri(const char *text, struct msd_uri *ret)
{
	return msd_uri_read(text, false, ret, NULL);
}

static void expect_err(const char *text, msd_err err)
{
	struct msd_uri u;

	cr_assert_eq(read_uri(text, &u), err, "%s", text);
	msd_uri_finish(&u);
}

static void expect_redirect(const char *from, const char *to, msd_err err)
{
	struct msd_uri a, b;

	cr_assert_eq(read_uri(from, &a), MSD_OK);
	cr_assert_eq(read_uri(to, &b), MSD_OK);
	cr_assert_eq(msd_uri_check_redirect(&a, &b, NULL), err, "%s to %s", from, to);
	msd_uri_finish(&a);
	msd_uri_finish(&b);
}

Test(uri, of_a_file_is_decoded)
{
	struct msd_uri u;

	cr_assert_eq(read_uri("file:///srv/a%20b.so", &u), MSD_OK);
	cr_expect_str_eq(u.shown, "file:///srv/a b.so");
	cr_assert_eq(u.scheme, MSD_SCHEME_FILE);
	cr_assert_str_eq(u.path, "/srv/a b.so");
	cr_expect_str_eq(u.shown, "file:///srv/a b.so");
	cr_expect_str_eq(u.host, "");
	msd_uri_finish(&u);
}

Test(uri, is_shown_without_its_query)
{
	struct msd_uri u;

	cr_assert_eq(read_uri("https://h/a.so?key=secret", &u), MSD_OK);
	cr_assert_str_eq(u.shown, "https://h:443/a.so");
	msd_uri_finish(&u);
}

Test(uri, http_is_for_this_machine_alone)
{
	expect_err("http://127.0.0.1:8000/a", MSD_OK);
	expect_err("http://127.9.9.9/a", MSD_OK);
	expect_err("http://[::1]:80/a", MSD_OK);
	expect_err("http://localhost/a", MSD_OK);
	expect_err("http://192.0.2.1/a", MSD_REFUSED);
	expect_err("http://127.0.0.1.example.org/a", MSD_REFUSED);
	expect_err("http://localhost.example.org/a", MSD_REFUSED);
	expect_err("http://[::2]/a", MSD_REFUSED);
	expect_err("http://0/a", MSD_REFUSED);
}

Test(uri, of_a_daemon_has_a_port_and_a_module)
{
	struct msd_uri u;

	cr_assert_eq(read_uri("modser://127.0.0.1:9190/digits", &u), MSD_OK);
	cr_assert_str_eq(u.host, "127.0.0.1:9190");
	cr_assert_str_eq(u.path, "/digits");
	cr_assert(u.is_plain);
	msd_uri_finish(&u);
	expect_err("modser://127.0.0.1/digits", MSD_BAD_REQUEST);
	expect_err("modser://127.0.0.1:9190", MSD_BAD_REQUEST);
	expect_err("modser://127.0.0.1:9190/", MSD_BAD_REQUEST);
	expect_err("modser://127.0.0.1:9190/a/b", MSD_BAD_REQUEST);
	expect_err("modser://127.0.0.1:9190/.a", MSD_BAD_REQUEST);
	expect_redirect("https://h/a", "modser://h:1/a", MSD_REFUSED);
}

Test(uri, of_another_machines_daemon_is_not_plain)
{
	struct msd_uri u;

	cr_assert_eq(read_uri("modser://192.0.2.1:9190/digits", &u), MSD_OK);
	cr_assert(!u.is_plain);
	msd_uri_finish(&u);
	cr_assert_eq(msd_uri_read("modser://192.0.2.1:9190/digits", true, &u, NULL),
		     MSD_OK);
	cr_assert(u.is_plain);
	msd_uri_finish(&u);
}

Test(uri, other_schemes_and_users_are_refused)
{
	expect_err("ftp://127.0.0.1/a", MSD_BAD_REQUEST);
	expect_err("scp://h/a", MSD_BAD_REQUEST);
	expect_err("https://user@h/a", MSD_BAD_REQUEST);
	expect_err("https://user:secret@h/a", MSD_BAD_REQUEST);
	expect_err("/srv/a.so", MSD_BAD_REQUEST);
	expect_err("", MSD_BAD_REQUEST);
}

Test(uri, that_cannot_be_read_is_told_without_its_password)
{
	struct msd_diag d = {0};
	struct msd_uri u;

	cr_assert_eq(
		msd_uri_read("https://user:se cret@host/a b?key=cret", false, &u, &d),
		MSD_BAD_REQUEST);
	cr_assert_null(strstr(msd_diag_text(&d), "cret"), "%s", msd_diag_text(&d));
	cr_assert_not_null(strstr(msd_diag_text(&d), "host/a b"));
	msd_diag_finish(&d);
	msd_uri_finish(&u);
}

Test(uri, redirects_never_leave_https)
{
	expect_redirect("https://a/x", "https://b/y", MSD_OK);
	expect_redirect("http://127.0.0.1/x", "https://b/y", MSD_OK);
	expect_redirect("https://a/x", "http://127.0.0.1/y", MSD_REFUSED);
	expect_redirect("https://a/x", "file:///y", MSD_REFUSED);
	expect_redirect("http://127.0.0.1/x", "file:///y", MSD_REFUSED);
}

static void expect_beside(const char *text, const char *name, const char *wanted)
{
	char *beside = NULL;

	cr_assert_eq(msd_uri_beside(text, name, ".json", &beside, NULL), MSD_OK);
	cr_assert_str_eq(beside, wanted);
	free(beside);
}

Test(uri, what_lies_beside_is_in_the_same_folder)
{
	expect_beside("https://h/a/b.so", NULL, "https://h/a/b.so.json");
	expect_beside("https://h/a/b.so?k=1", NULL, "https://h/a/b.so.json?k=1");
	expect_beside("https://h/a/b.so", "c d?.so", "https://h/a/c%20d%3f.so");
	expect_beside("file:///a/b%25.so", "c.so", "file:///a/c.so");
	expect_beside("https://h", "c.so", "https://h/c.so");
}

Test(uri, goes_plainly_to_another_machine_only_where_that_is_allowed)
{
	struct msd_uri u;

	cr_assert_eq(msd_uri_read("http://a/b", true, &u, NULL), MSD_OK);
	cr_expect(u.is_plain);
	msd_uri_finish(&u);
	cr_assert_eq(msd_uri_read("oci://a/b:1", true, &u, NULL), MSD_OK);
	cr_expect(u.is_plain);
	msd_uri_finish(&u);
	cr_assert_eq(msd_uri_read("oci://a/b:1", false, &u, NULL), MSD_OK);
	cr_expect_not(u.is_plain);
	msd_uri_finish(&u);
}
