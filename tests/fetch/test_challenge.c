#include <criterion/criterion.h>
#include <stdlib.h>

#include "daemon/fetch/registry/challenge.h"

static void expect_url(const char *challenge, const char *url)
{
	char *is = NULL;

	cr_assert_eq(msd_challenge_url(challenge, "https://r/v2/m", false, &is, NULL),
		     MSD_OK);
	cr_assert_str_eq(is, url);
	free(is);
}

static void expect_refused(const char *json)
{
	char *header;

	cr_assert_eq(msd_token_header(msd_span_of(json), &header, NULL), MSD_REFUSED,
		     "%s", json);
}

Test(challenge, names_the_url_with_escaped_values)
{
	expect_url("Bearer realm=\"https://a/t\",service=\"s\",scope=\"r:m:pull,push\"",
		   "https://a/t?service=s&scope=r%3Am%3Apull%2Cpush");
	expect_url("bearer scope=\"x\", realm=\"https://a/t?k=v\"",
		   "https://a/t?k=v&scope=x");
}

static void expect_no_url(const char *challenge, const char *from)
{
	char *url;

	cr_assert_eq(msd_challenge_url(challenge, from, false, &url, NULL), MSD_REFUSED,
		     "%s", challenge);
}

Test(challenge, other_ways_than_tokens_are_refused)
{
	expect_no_url("Basic realm=\"x\"", "https://r/v2/m");
	expect_no_url("Bearer surrealm=\"x\"", "https://r/v2/m");
	expect_no_url("", "https://r/v2/m");
}

Test(challenge, leads_from_elsewhere_to_no_server_of_this_machine)
{
	expect_no_url("Bearer realm=\"http://127.0.0.1:80/t\"", "https://r/v2/m");
	expect_no_url("Bearer realm=\"http://r/t\"", "https://r/v2/m");
	expect_no_url("Bearer realm=\"file:///etc/passwd\"", "https://r/v2/m");
	expect_no_url("Bearer realm=\"file:///t\"", "http://127.0.0.1/v2/m");
}

Test(challenge, of_this_machine_may_lead_to_it)
{
	char *url = NULL;

	cr_assert_eq(msd_challenge_url("Bearer realm=\"http://127.0.0.1:80/t\"",
				       "http://127.0.0.1:5000/v2/m", false, &url, NULL),
		     MSD_OK);
	cr_assert_str_eq(url, "http://127.0.0.1:80/t");
	free(url);
}

Test(challenge, a_token_becomes_a_header)
{
	char *header = NULL;

	cr_assert_eq(msd_token_header(msd_span_of("{\"access_token\": \"a.b-c=\"}"),
				      &header, NULL),
		     MSD_OK);
	cr_assert_str_eq(header, "Authorization: Bearer a.b-c=");
	free(header);
}

Test(challenge, what_would_break_a_header_is_no_token)
{
	expect_refused("{\"token\": \"a\\r\\nHost: b\"}");
	expect_refused("{\"token\": \"\"}");
	expect_refused("{\"token\": 1}");
	expect_refused("[]");
	expect_refused("");
}
