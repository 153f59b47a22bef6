#include <criterion/criterion.h>

#include "daemon/supervisor/request/network.h"

/* The address @text is in the range @range. */
static bool is_in(const char *text, const char *range)
{
	struct msd_networks ns = {.n = 1};
	struct msd_network at;

	cr_assert(msd_network_parse(range, &ns.of[0]), "%s", range);
	cr_assert(msd_network_parse(text, &at), "%s", text);
	return msd_networks_hold(&ns, at.at);
}

Test(network, an_address_alone_holds_itself)
{
	cr_expect(is_in("192.0.2.7", "192.0.2.7"));
	cr_expect_not(is_in("192.0.2.6", "192.0.2.7"));
	cr_expect(is_in("2001:db8::1", "2001:db8::1"));
	cr_expect_not(is_in("2001:db8::2", "2001:db8::1"));
}

Test(network, its_bits_count_and_no_others)
{
	cr_expect(is_in("10.1.2.3", "10.0.0.0/8"));
	cr_expect_not(is_in("11.1.2.3", "10.0.0.0/8"));
	cr_expect(is_in("192.0.2.130", "192.0.2.128/25"));
	cr_expect_not(is_in("192.0.2.127", "192.0.2.128/25"));
	cr_expect(is_in("192.0.2.129", "192.0.2.200/25"));
	cr_expect(is_in("2001:db8:ffff::1", "2001:db8::/32"));
	cr_expect_not(is_in("2001:db9::1", "2001:db8::/32"));
}

Test(network, zero_bits_are_everybody_of_the_family)
{
	cr_expect(is_in("203.0.113.1", "0.0.0.0/0"));
	cr_expect_not(is_in("2001:db8::1", "0.0.0.0/0"));
	cr_expect(is_in("203.0.113.1", "::/0"));
}

Test(network, a_mapped_address_is_that_of_ipv4)
{
	cr_expect(is_in("::ffff:10.1.2.3", "10.0.0.0/8"));
}

Test(network, what_is_no_range_is_refused)
{
	static const char *const wrong[] = {"",
					    "/",
					    "/8",
					    "10.0.0.0/",
					    "10.0.0.0/33",
					    "10.0.0/8",
					    "2001:db8::/129",
					    "10.0.0.0/-1",
					    "10.0.0.0/8/8",
					    "10.0.0.0/18446744073709551615",
					    "localhost",
					    " 10.0.0.1",
					    "10.0.0.1:80"};
	struct msd_network ret;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_expect_not(msd_network_parse(wrong[i], &ret), "\"%s\"", wrong[i]);
}

Test(network, loopback_is_of_both_families)
{
	static const struct {
		const char *text;
		bool is;
	} rows[] = {{"127.0.0.1", true},  {"127.255.0.9", true}, {"::1", true},
		    {"128.0.0.1", false}, {"::2", false},        {"::", false}};
	struct msd_network at;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_assert(msd_network_parse(rows[i].text, &at));
		cr_expect_eq(msd_network_is_loopback(at.at), rows[i].is, "%s",
			     rows[i].text);
	}
}
