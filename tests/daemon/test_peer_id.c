#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/supervisor/request/peer_id.h"

static void expect_text(struct msd_peer_id who, const char *want)
{
	char text[MSD_PEER_TEXT_BYTES];

	cr_expect_str_eq(msd_peer_id_text(who, text), want, "%s", text);
}

/* Who accepts a connection of this process over @family's loopback; -1: there is none.
 */
static int connected(int family, int *ret_client)
{
	union {
		struct sockaddr any;
		struct sockaddr_in6 ipv6;
		struct sockaddr_in ipv4;
	} at = {.any.sa_family = (sa_family_t)family};
	socklen_t n = family == AF_INET6 ? sizeof(at.ipv6) : sizeof(at.ipv4);
	const int listener = socket(family, SOCK_STREAM, 0);

	if (family == AF_INET6) {
		at.ipv6.sin6_addr = in6addr_loopback;
	} else {
		at.ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
	if (listener < 0 || bind(listener, &at.any, n) != 0)
		return -1;
	cr_assert_eq(listen(listener, 1), 0);
	cr_assert_eq(getsockname(listener, &at.any, &n), 0);
	*ret_client = socket(family, SOCK_STREAM, 0);
	cr_assert_eq(connect(*ret_client, &at.any, n), 0);
	const int accepted = accept(listener, NULL, NULL);
	cr_assert_geq(accepted, 0);
	cr_assert_eq(close(listener), 0);
	return accepted;
}

Test(peer_id, on_a_unix_socket_it_is_the_user)
{
	int ends[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	const struct msd_peer_id who = msd_peer_id_of_socket(ends[0]);
	cr_expect_eq(who.kind, MSD_PEER_USER);
	cr_expect_eq(who.value, getuid());
	cr_expect(msd_peer_id_is(who, msd_peer_id_of_socket(ends[1])));
}

Test(peer_id, of_loopback_is_known)
{
	const int families[] = {AF_INET, AF_INET6};
	const struct msd_peer_id far = {.kind = MSD_PEER_IPV4, .value = 0xc0000207};
	const struct msd_peer_id user = {.kind = MSD_PEER_USER, .value = 127u << 24};

	for (unsigned i = 0; i < 2; i++) {
		int client;
		const int fd = connected(families[i], &client);
		if (fd < 0)
			continue; /* no IPv6 here */
		cr_expect(msd_peer_id_is_loopback(msd_peer_id_of_socket(fd)));
		cr_expect_eq(close(fd), 0);
		cr_expect_eq(close(client), 0);
	}
	cr_expect_not(msd_peer_id_is_loopback(far));
	cr_expect_not(msd_peer_id_is_loopback(user));
}

Test(peer_id, on_tcp_it_is_the_address_without_the_port)
{
	int client[2];
	const int one = connected(AF_INET, &client[0]);
	const int two = connected(AF_INET, &client[1]);

	expect_text(msd_peer_id_of_socket(one), "127.0.0.1");
	cr_expect(
		msd_peer_id_is(msd_peer_id_of_socket(one), msd_peer_id_of_socket(two)));
}

Test(peer_id, of_ipv6_it_is_the_network)
{
	int client;
	const int fd = connected(AF_INET6, &client);
	const struct msd_peer_id net = {.kind = MSD_PEER_IPV6,
					.value = 0x20010db8000000ffull};

	expect_text(net, "2001:db8:0:ff::/64");
	if (fd >= 0)
		expect_text(msd_peer_id_of_socket(fd), "::/64");
}

Test(peer_id, what_is_no_connection_is_nobody)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	cr_expect_eq(msd_peer_id_of_socket(fd).kind, MSD_PEER_UNKNOWN);
	cr_expect_eq(msd_peer_id_of_socket(-1).kind, MSD_PEER_UNKNOWN);
	expect_text((struct msd_peer_id){0}, "unknown");
}
