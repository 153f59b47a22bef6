#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <string.h>

#include "daemon/fetch/transfer/public_address.h"

static bool is_public_socket(const char *text)
{
	struct sockaddr_storage a = {0};
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
		memcpy(&a, &v4, sizeof(v4));
	} else {
		cr_assert_eq(inet_pton(AF_INET6, text, &v6.sin6_addr), 1, "%s", text);
		memcpy(&a, &v6, sizeof(v6));
	}
	return msd_public_is((const struct sockaddr *)&a);
}

static void expect_all(const char *const *addresses, size_t n, bool is_public)
{
	for (size_t i = 0; i < n; i++) {
		cr_expect_eq(is_public_socket(addresses[i]), is_public, "%s",
			     addresses[i]);
		cr_expect_eq(msd_public_is_text(addresses[i]), is_public, "%s",
			     addresses[i]);
	}
}

#define EXPECT_ALL(array, is_public)                                                   \
	expect_all(array, sizeof(array) / sizeof((array)[0]), is_public)

Test(public, keeps_what_is_of_this_machine_and_its_networks)
{
	static const char *const kept[] = {
		"0.0.0.0",        "0.1.2.3",         "10.0.0.1",
		"10.255.255.255", "100.64.0.1",      "100.127.255.255",
		"127.0.0.1",      "127.255.255.254", "169.254.169.254",
		"172.16.0.1",     "172.31.255.255",  "192.0.0.1",
		"192.0.2.1",      "192.168.255.1",   "198.18.0.1",
		"198.19.255.255", "198.51.100.7",    "203.0.113.9",
		"224.0.0.1",      "239.1.1.1",       "240.0.0.1",
		"255.255.255.255"};
	static const char *const near[] = {
		"1.0.0.0",     "9.255.255.255", "11.0.0.0",       "100.63.255.255",
		"100.128.0.0", "126.255.255.1", "128.0.0.0",      "169.253.255.255",
		"169.255.0.0", "172.15.0.1",    "172.32.0.0",     "192.0.1.1",
		"192.167.0.1", "192.169.0.1",   "198.17.255.255", "198.20.0.0",
		"203.0.112.1", "223.255.255.1", "8.8.8.8"};

	EXPECT_ALL(kept, false);
	EXPECT_ALL(near, true);
}

Test(public, keeps_what_ipv6_has_of_the_same_in_every_form)
{
	static const char *const kept[] = {"::",
					   "::1",
					   "::7f00:1",
					   "::ffff:127.0.0.1",
					   "::ffff:10.0.0.1",
					   "::ffff:169.254.169.254",
					   "::ffff:0:127.0.0.1",
					   "64:ff9b::127.0.0.1",
					   "64:ff9b::a00:1",
					   "64:ff9b:1::8.8.8.8",
					   "2002:7f00:1::",
					   "2002:a00:1::1",
					   "2001::1",
					   "2001:0:4136:e378::1",
					   "2001:db8::1",
					   "3fff::1",
					   "100::1",
					   "fc00::1",
					   "fd00:ec2::254",
					   "fe80::1",
					   "fec0::1",
					   "ff02::1"};
	static const char *const others[] = {"2001:4860:4860::8888", "2606:4700::1111",
					     "2a00:1450::1",         "2001:200::1",
					     "::ffff:8.8.8.8",       "64:ff9b::8.8.8.8",
					     "2002:808:808::1",      "3ffe::1"};

	EXPECT_ALL(kept, false);
	EXPECT_ALL(others, true);
}

Test(public, takes_no_other_text_and_no_other_family_for_an_address)
{
	static const char *const texts[] = {"",          "localhost",    "8.8.8",
					    "0x8.8.8.8", "fe80::1%eth0", "8.8.8.8 ",
					    "[::1]"};
	const struct sockaddr a = {.sa_family = AF_UNIX};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cr_expect(!msd_public_is_text(texts[i]), "%s", texts[i]);
	cr_expect(!msd_public_is(&a));
}
