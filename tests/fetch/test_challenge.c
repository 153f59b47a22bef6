#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fetch/registry/challenge.h"

static void expect_url(const char *challenge, const char *url)
{
	struct msd_challenge c;
	char *is = NULL;

	cr_assert_eq(msd_challenge_read(challenge, &c, NULL), MSD_OK, "%s", challenge);
	cr_assert_eq(
		msd_challenge_url(&c, "https://r/v2/a/m", "pull", false, &is, NULL),
		MSD_OK);
	cr_expect_str_eq(is, url);
	free(is);
	msd_challenge_finish(&c);
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
	struct msd_challenge c;
	char *url;
	msd_err err = msd_challenge_read(challenge, &c, NULL);

	if (err == MSD_OK)
		err = msd_challenge_url(&c, from, "pull", false, &url, NULL);
	cr_expect_eq(err, MSD_REFUSED, "%s", challenge);
	msd_challenge_finish(&c);
}

Test(challenge, other_ways_than_tokens_are_refused)
{
	expect_no_url("Negotiate", "https://r/v2/m");
	expect_no_url("Bearer", "https://r/v2/m");
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
	struct msd_challenge c;
	char *url = NULL;

	cr_assert_eq(
		msd_challenge_read("Bearer realm=\"http://127.0.0.1:80/t\",scope=x", &c,
				   NULL),
		MSD_OK);
	cr_assert_eq(msd_challenge_url(&c, "http://127.0.0.1:5000/v2/m", "pull", false,
				       &url, NULL),
		     MSD_OK);
	cr_assert_str_eq(url, "http://127.0.0.1:80/t?scope=x");
	free(url);
	msd_challenge_finish(&c);
}

#define BEARER "Bearer realm=\"https://a/t\",service=\"s\",scope=\"x\""
#define URL "https://a/t?service=s&scope=x"

Test(challenge, is_found_among_others)
{
	expect_url("Basic realm=\"r\", " BEARER, URL);
	expect_url(BEARER ", Basic realm=\"r\"", URL);
	expect_url("Negotiate, " BEARER, URL);
	expect_url("NTLM, Negotiate," BEARER, URL);
	expect_url("Digest realm=\"r\", nonce=\"x\", qop=\"auth\", " BEARER, URL);
	expect_url("Own abc==, " BEARER, URL);
	expect_url(BEARER ",error_description=\"a, b = \\\"c\\\", scope=y\"", URL);
}

Test(challenge, names_are_in_either_case_and_may_have_blanks_around)
{
	expect_url("BEARER Realm = \"https://a/t\" , SERVICE=s,Scope =\"x\"", URL);
}

Test(challenge, without_a_scope_is_for_the_repository)
{
	expect_url("Bearer realm=\"https://a/t\"",
		   "https://a/t?scope=repository%3Aa%2Fm%3Apull");
}

Test(challenge, without_a_token_server_may_be_answered_by_a_name)
{
	struct msd_challenge c;

	cr_assert_eq(msd_challenge_read("Negotiate, basic realm=\"r\"", &c, NULL),
		     MSD_OK);
	cr_expect(c.has_basic);
	cr_expect_null(c.realm);
	msd_challenge_finish(&c);
}

Test(challenge, of_every_prefix_is_read_within_its_end)
{
	static const char text[] = "Own abc==, " BEARER ",e=\"a\\\"b\"";

	for (size_t n = 0; n < sizeof(text); n++) {
		char *cut = strndup(text, n);
		struct msd_challenge c;

		const msd_err err = msd_challenge_read(cut, &c, NULL);
		cr_expect(err == MSD_OK || err == MSD_REFUSED, "%s", cut);
		msd_challenge_finish(&c);
		free(cut);
	}
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
