#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/fetch/transfer/network_options.h"
#include "daemon/fetch/transfer/pull_prefixes.h"

struct row {
	const char *prefix, *url;
};

#define EACH(rows, r)                                                                  \
	for (const struct row *r = rows; r < rows + sizeof(rows) / sizeof((rows)[0]);  \
	     r++)

Test(listed, takes_whole_segments_of_the_same_server)
{
	static const struct row rows[] = {
		{"https://h/models/", "https://h/models/x.so"},
		{"https://h/models", "https://h/models/a/x.so?key=1"},
		{"https://h/models", "https://h/models"},
		{"https://h", "https://H.:443/x"},
		{"https://h:443/m/", "HTTPS://h/m/x"},
		{"http://127.0.0.1:8000/m/", "http://127.0.0.1:8000/m/./a/../x"},
		{"http://127.0.0.1/m/", "http://127.1/m/x"},
		{"http://127.0.0.1/m/", "http://0x7f000001/m/x"},
		{"http://[::1]/m/", "http://[::1]:80/m/x"},
		{"oci://h:5000/models/digits", "oci://h:5000/models/digits:1"},
		{"oci://h:5000/models/digits", "oci://h:5000/models/digits@sha256:00"},
		{"oci://h:5000/models/", "oci://h:5000/models/digits:1"},
		{"modser://h:9190/", "modser://h:9190/digits"},
		{"file:///srv/models/", "file:///srv/models/a%20b.so"},
		{"file:///srv/models/", "file://localhost/srv/models/x"}};

	EACH(rows, r)
	cr_expect(msd_pull_prefix(r->prefix, r->url), "%s %s", r->prefix, r->url);
}

Test(listed, takes_nothing_that_only_looks_like_it)
{
	static const struct row rows[] = {
		{"https://h/models", "https://h/models-of-others/x"},
		{"https://h/models/", "https://h/models"},
		{"https://h/models/", "http://h/models/x"},
		{"https://h/models/", "https://h:444/models/x"},
		{"https://h/models/", "https://h.evil/models/x"},
		{"https://h/models/", "https://evil/https://h/models/x"},
		{"https://h/models/", "https://h@evil/models/x"},
		{"https://h/models/", "https://user@h/models/x"},
		{"https://h/models/", "https://h:@h/models/x"},
		{"https://h/models/", "https://h//models/x"},
		{"https://h/models/", "https://h/Models/x"},
		{"oci://h/models/digits", "oci://h/models/digits-of-others:1"},
		{"modser://h:9190/digits", "modser://h:9191/digits"},
		{"file:///srv/models/", "file:///srv/models/../key"},
		{"file:///srv/models/", "file:///srv/models/%2e%2e/key"},
		{"file:///srv/models/", "file:///srv/modelsx"},
		{"https://h/", "no URL"},
		{"no URL", "no URL"},
		{"", ""}};

	EACH(rows, r)
	cr_expect(!msd_pull_prefix(r->prefix, r->url), "%s %s", r->prefix, r->url);
}

Test(listed, takes_no_path_that_a_server_may_read_as_another)
{
	static const char *const urls[] = {
		"https://h/models/../x",         "https://h/models/a/../../x",
		"https://h/models/%2e%2e/x",     "https://h/models/%2E./x",
		"https://h/models/..%2fx",       "https://h/models/%2e%2e%2fx",
		"https://h/models/%252e%252e/x", "https://h/models/..;/x",
		"https://h/models/a\\..\\..\\x", "https://h/models/%5c../x"};

	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		cr_expect(!msd_pull_prefix("https://h/models/", urls[i]), "%s",
			  urls[i]);
	}
}

Test(listed, judges_every_prefix_of_a_url)
{
	static const char url[] = "https://h:8443/models/a/x.so?key=1";
	static const char whole[] = "https://h:8443/models/";

	for (size_t n = 0; n <= sizeof(url) - 1; n++) {
		char *part = strndup(url, n);
		cr_expect_eq(msd_pull_prefix(whole, part), n >= sizeof(whole) - 1, "%s",
			     part);
		free(part);
	}
}

Test(listed, of_a_file_judges_what_its_path_leads_to)
{
	char folder[] = "/tmp/msd-listed.XXXXXX", prefix[128], link[64];
	char inside[PATH_MAX + 2], beside[PATH_MAX + 2];

	cr_assert_not_null(mkdtemp(folder));
	char *real = realpath(folder, NULL);
	(void)snprintf(link, sizeof(link), "%s.link", folder);
	cr_assert_eq(symlink(folder, link), 0);
	(void)snprintf(prefix, sizeof(prefix), "file://%s/", link);
	(void)snprintf(inside, sizeof(inside), "%s/x", real);
	(void)snprintf(beside, sizeof(beside), "%sx", real);
	cr_expect(msd_pull_prefix_path(prefix, inside));
	cr_expect(!msd_pull_prefix_path(prefix, beside));
	cr_expect(!msd_pull_prefix_path(prefix, "/etc/passwd"));
	cr_expect(msd_pull_prefix_path("file:///", "/etc/passwd"));
	cr_expect(!msd_pull_prefix_path("https://h/", "/etc/passwd"));
	cr_assert_eq(unlink(link) | rmdir(folder), 0);
	cr_expect(!msd_pull_prefix_path(prefix, inside),
		  "what is not there holds nothing");
	free(real);
}

Test(listed, bounds_no_reach_without_a_word_and_all_of_one_with_an_empty_list)
{
	struct msd_network_options r = {0};

	cr_expect(msd_network_options_is_free(&r, "file:///etc/passwd"));
	cr_expect(msd_network_options_is_free_path(&r, "/etc/passwd"));
	cr_assert_eq(msd_network_options_bound(&r, (struct msd_span){NULL, 0}, NULL),
		     MSD_OK);
	cr_expect(!msd_network_options_is_free(&r, "https://h/x"));
	cr_expect(!msd_network_options_is_free_path(&r, "/etc/passwd"));
	cr_assert_eq(msd_network_options_bound(&r, msd_span_of("https://h/"), NULL),
		     MSD_OK);
	cr_expect(msd_network_options_is_free(&r, "https://h/x"));
	msd_network_options_finish(&r);
}
