#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/fetch/registry/auth.h"

/* What the file with @text says of @host; *ret is the caller's. */
static msd_err find(const char *text, const char *host, char **ret, struct msd_diag *d)
{
	char path[] = "/tmp/msd-auth.XXXXXX";
	const int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	const msd_err err = msd_auth_find(path, host, ret, d);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(close(fd), 0);
	return err;
}

static void expect_header(const char *text, const char *host, const char *header)
{
	char *is = NULL;

	cr_assert_eq(find(text, host, &is, NULL), MSD_OK, "%s", text);
	if (header == NULL) {
		cr_expect_null(is, "%s is not of %s", is, host);
	} else {
		cr_assert_not_null(is, "%s has none", host);
		cr_expect_str_eq(is, header);
	}
	free(is);
}

Test(auth, is_by_host_and_port)
{
	static const char text[] = "{\"auths\": {\"a:5000\": {\"auth\": \"YTpi\"},"
				   " \"https://b/v1/\": {\"auth\": \"Yzpk\"}}}";

	expect_header(text, "a:5000", "Authorization: Basic YTpi");
	expect_header(text, "a", NULL);
	expect_header(text, "a:50", NULL);
	expect_header(text, "b", "Authorization: Basic Yzpk");
	expect_header(text, "b:443", "Authorization: Basic Yzpk");
	expect_header(text, "b:444", NULL);
}

static void expect_refused(const char *text)
{
	struct msd_diag d = {0};
	char *header = NULL;

	cr_assert_eq(find(text, "a", &header, &d), MSD_BAD_REQUEST, "%s", text);
	cr_expect_null(header);
	cr_expect_not_null(strstr(msd_diag_text(&d), "auth: /tmp/"));
	cr_expect_null(strstr(msd_diag_text(&d), "secret"), "it is shown: %s",
		       msd_diag_text(&d));
	msd_diag_finish(&d);
}

Test(auth, that_is_none_is_refused_without_being_shown)
{
	expect_refused("secret");
	expect_refused("{}");
	expect_refused("{\"auths\": {\"a\": {\"auth\": \"secret\\r\\nHost: b\"}}}");
	expect_refused("{\"auths\": {\"a\": {\"identitytoken\": \"secret\"}}}");
}

Test(auth, that_is_not_there_is_an_error_and_not_nobody)
{
	char *header;

	cr_expect_eq(msd_auth_find("/nowhere/auth.json", "a", &header, NULL), MSD_IO);
	cr_expect_eq(msd_auth_find("/dev/zero", "a", &header, NULL), MSD_BAD_REQUEST);
}
