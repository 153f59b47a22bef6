#include <criterion/criterion.h>
#include <string.h>

#include "daemon/supervisor/request/proxy_head.h"

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define PORTS "\x30\x39\x00\x50"
#define OF(text) (text), sizeof(text) - 1
/* From 203.0.113.7 to 127.0.0.1. */
#define IPV4 "\xcb\x00\x71\x07\x7f\x00\x00\x01" PORTS
#define TLS "\x20\x00\x05\x01\x00\x00\x00\x00"

static struct msd_proxy_head head(const char *p, size_t n)
{
	struct msd_proxy_head h = {.n = n};

	cr_assert_leq(n, sizeof(h.bytes));
	memcpy(h.bytes, p, n);
	return h;
}

static msd_err read_it(const char *p, size_t n, struct msd_proxied *ret)
{
	const struct msd_proxy_head h = head(p, n);
	struct msd_diag d = {0};
	const msd_err err = msd_proxy_head_read(&h, ret, &d);

	msd_diag_finish(&d);
	return err;
}

static void expect_client(const char *p, size_t n, const char *want, bool is_sealed)
{
	struct msd_proxied got = {0};
	char text[MSD_PEER_TEXT_BYTES];

	cr_assert_eq(read_it(p, n, &got), MSD_OK);
	cr_expect_str_eq(msd_peer_id_text(got.client, text), want, "%s", text);
	cr_expect_eq(got.is_sealed, is_sealed);
}

static void expect_error(const char *p, size_t n, msd_err want)
{
	struct msd_proxied got = {0};

	cr_expect_eq(read_it(p, n, &got), want);
	cr_expect_eq(got.client.kind, MSD_PEER_UNKNOWN);
}

Test(proxy_head, says_the_clients_address)
{
	expect_client(OF(SIGNATURE "\x21\x11\x00\x0c" IPV4), "203.0.113.7", false);
	expect_client(OF(SIGNATURE "\x21\x21\x00\x24"
				   "\x20\x01\x0d\xb8\x00\x00\x00\xff"
				   "\x00\x00\x00\x00\x00\x00\x00\x01"
				   "\x00\x00\x00\x00\x00\x00\x00\x00"
				   "\x00\x00\x00\x00\x00\x00\x00\x01" PORTS),
		      "2001:db8:0:ff::/64", false);
}

Test(proxy_head, says_that_the_client_came_by_tls)
{
	expect_client(OF(SIGNATURE "\x21\x11\x00\x14" IPV4 TLS), "203.0.113.7", true);
	expect_client(OF(SIGNATURE "\x21\x11\x00\x17" IPV4 "\x04\x00\x00" TLS),
		      "203.0.113.7", true);
	expect_client(OF(SIGNATURE "\x21\x11\x00\x14" IPV4
				   "\x20\x00\x05\x00\x00\x00\x00\x00"),
		      "203.0.113.7", false);
}

Test(proxy_head, of_one_machine_nobody_reads_on_the_way)
{
	expect_client(OF(SIGNATURE "\x21\x11\x00\x0c"
				   "\x7f\x00\x00\x05\x7f\x00\x00\x01" PORTS),
		      "127.0.0.5", true);
}

Test(proxy_head, a_proxys_own_connection_is_nobodys)
{
	expect_client(OF(SIGNATURE "\x20\x00\x00\x00"), "unknown", false);
	expect_client(OF(SIGNATURE "\x20\x11\x00\x0c" IPV4), "unknown", false);
	expect_client(OF(SIGNATURE "\x21\x00\x00\x00"), "unknown", false);
}

Test(proxy_head, every_prefix_wants_what_is_left_of_it)
{
	static const char whole[] = SIGNATURE "\x21\x11\x00\x14" IPV4 TLS;
	const size_t all = sizeof(whole) - 1;
	struct msd_proxied got;

	for (size_t n = 0; n < all; n++) {
		const struct msd_proxy_head h = head(whole, n);
		const size_t end =
			n < MSD_PROXY_HEAD_FIXED ? MSD_PROXY_HEAD_FIXED : all;
		cr_expect_eq(msd_proxy_head_wants(&h), end - n, "%zu", n);
		cr_expect_eq(read_it(whole, n, &got), MSD_WAIT, "%zu", n);
	}
	const struct msd_proxy_head h = head(whole, all);
	cr_expect_eq(msd_proxy_head_wants(&h), 0);
}

Test(proxy_head, what_begins_otherwise_is_no_header)
{
	expect_error(OF("G"), MSD_REFUSED);
	expect_error(OF("\r\n\r\n\0\r\nQUIX"), MSD_REFUSED);
	expect_error(OF("PROXY TCP4 192.0"), MSD_REFUSED);
}

Test(proxy_head, a_wrong_one_is_refused)
{
	expect_error(OF(SIGNATURE "\x11\x11\x00\x0c" IPV4), MSD_PROTOCOL);
	expect_error(OF(SIGNATURE "\x31\x11\x00\x0c" IPV4), MSD_PROTOCOL);
	expect_error(OF(SIGNATURE "\x22\x11\x00\x0c" IPV4), MSD_PROTOCOL);
	expect_error(OF(SIGNATURE "\x21\x41\x00\x0c" IPV4), MSD_PROTOCOL);
	expect_error(OF(SIGNATURE "\x21\x12\x00\x0c" IPV4), MSD_PROTOCOL);
	expect_error(OF(SIGNATURE "\x21\x11\x00\x0b" IPV4), MSD_PROTOCOL);
	expect_error(OF(SIGNATURE "\x21\x21\x00\x0c" IPV4), MSD_PROTOCOL);
}

Test(proxy_head, a_field_that_is_cut_is_refused)
{
	expect_error(OF(SIGNATURE "\x21\x11\x00\x0e" IPV4 "\x20\x00"), MSD_PROTOCOL);
	expect_error(OF(SIGNATURE "\x21\x11\x00\x10" IPV4 "\x20\x00\x02\x01"),
		     MSD_PROTOCOL);
	expect_error(OF(SIGNATURE "\x21\x11\x00\x0f" IPV4 "\x20\xff\xff"),
		     MSD_PROTOCOL);
}

Test(proxy_head, one_that_is_too_long_is_refused_by_its_length)
{
	expect_error(OF(SIGNATURE "\x21\x11\x07\xf1"), MSD_PROTOCOL);
	expect_error(OF(SIGNATURE "\x21\x11\xff\xff"), MSD_PROTOCOL);
	expect_error(OF(SIGNATURE "\x21\x11\x07\xf0"), MSD_WAIT);
}
