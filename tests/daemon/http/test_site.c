#include <criterion/criterion.h>

#include "daemon/http/site.h"

static bool is_own(const char *origin, const char *host)
{
	return msd_site_is_own(msd_span_of(origin), msd_span_of(host));
}

static bool may_move(const char *host)
{
	return msd_site_may_move(msd_span_of(host));
}

Test(site, that_a_page_is_of_is_the_one_that_it_asks)
{
	cr_expect(is_own("http://127.0.0.1:8000", "127.0.0.1:8000"));
	cr_expect(is_own("http://LocalHost:8000", "localhost:8000"));
	cr_expect(is_own("https://[::1]:8443", "[::1]:8443"));
}

Test(site, of_the_schemes_port_is_named_without_it)
{
	cr_expect(is_own("http://gpu", "gpu:80"));
	cr_expect(is_own("http://gpu:80", "gpu"));
	cr_expect(is_own("https://gpu", "gpu:443"));
	cr_expect_not(is_own("https://gpu", "gpu:80"));
}

Test(site, of_another_page_is_another)
{
	cr_expect_not(is_own("http://example.com", "127.0.0.1:8000"));
	cr_expect_not(is_own("http://127.0.0.1:8001", "127.0.0.1:8000"));
	cr_expect_not(is_own("http://127.0.0.1", "127.0.0.1:8000"));
	cr_expect_not(is_own("http://127.0.0.1:8000.example.com", "127.0.0.1:8000"));
}

Test(site, that_is_none_is_another)
{
	cr_expect_not(is_own("null", "null"));
	cr_expect_not(is_own("", ""));
	cr_expect_not(is_own("http://", ""));
	cr_expect_not(is_own("ftp://a", "a"));
}

Test(site, that_is_not_told_is_nobodys)
{
	const struct msd_span none = {0};

	cr_expect_not(msd_site_is_own(msd_span_of("http://:80"), none));
	cr_expect_not(msd_site_may_move(none));
}

Test(site, of_an_address_stays_where_it_is)
{
	cr_expect_not(may_move("127.0.0.1"));
	cr_expect_not(may_move("127.0.0.1:8000"));
	cr_expect_not(may_move("[::1]:8000"));
	cr_expect_not(may_move("[fe80::1]"));
}

Test(site, of_this_machine_or_of_one_word_stays_where_it_is)
{
	cr_expect_not(may_move("localhost:8000"));
	cr_expect_not(may_move("models.localhost"));
	cr_expect_not(may_move("gpu:8000"));
	cr_expect_not(may_move("gpu."));
	cr_expect_not(may_move(""));
}

Test(site, whose_name_is_somebodys_may_lead_here)
{
	cr_expect(may_move("example.com"));
	cr_expect(may_move("example.com.:8000"));
	cr_expect(may_move("127.0.0.1.example.com:8000"));
	cr_expect(may_move("localhost.example.com"));
	cr_expect(may_move("notlocalhost.evil"));
}
