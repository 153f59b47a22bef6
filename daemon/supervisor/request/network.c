#include "daemon/supervisor/request/network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "proto/base/argv.h"

#define MAPPED_BITS 96u /* prefix of an IPv4 address */
#define ALL_BITS 128u

void msd_network_map(const uint8_t ipv4[static 4],
		     uint8_t ret[static MSD_ADDRESS_BYTES])
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	memcpy(ret, prefix, sizeof(prefix));
	memcpy(ret + sizeof(prefix), ipv4, 4);
}

static bool parse_address(const char *text, struct msd_network *ret,
			  uint32_t *ret_prefix)
{
	uint8_t ipv4[4];

	*ret_prefix = 0;
	if (inet_pton(AF_INET6, text, ret->at) == 1)
		return true;
	if (inet_pton(AF_INET, text, ipv4) != 1)
		return false;
	msd_network_map(ipv4, ret->at);
	*ret_prefix = MAPPED_BITS;
	return true;
}

bool msd_network_parse(const char *text, struct msd_network *ret)
{
	const char *slash = strchr(text, '/');
	const size_t n = slash != NULL ? (size_t)(slash - text) : strlen(text);
	char address[INET6_ADDRSTRLEN];
	struct msd_network net = {.bits = ALL_BITS};
	uint64_t bits;
	uint32_t prefix;

	if (n >= sizeof(address))
		return false;
	memcpy(address, text, n);
	address[n] = '\0';
	if (!parse_address(address, &net, &prefix))
		return false;
	if (slash != NULL) {
		if (!msd_argv_size(slash + 1, &bits) || bits > ALL_BITS - prefix)
			return false;
		net.bits = prefix + (uint32_t)bits;
	}
	*ret = net;
	return true;
}

static bool holds(const struct msd_network *net, const uint8_t *at)
{
	const uint32_t whole = net->bits / 8, rest = net->bits % 8;
	const unsigned mask = 0xff00u >> rest & 0xffu;

	return memcmp(net->at, at, whole) == 0 &&
	       (rest == 0 || ((net->at[whole] ^ at[whole]) & mask) == 0);
}

bool msd_networks_hold(const struct msd_networks *ns,
		       const uint8_t at[static MSD_ADDRESS_BYTES])
{
	for (uint32_t i = 0; i < ns->n; i++) {
		if (holds(&ns->of[i], at))
			return true;
	}
	return false;
}

bool msd_network_peer(int fd, uint8_t ret[static MSD_ADDRESS_BYTES])
{
	union {
		struct sockaddr any;
		struct sockaddr_in ipv4;
		struct sockaddr_in6 ipv6;
	} at = {.any.sa_family = AF_UNSPEC};
	socklen_t n = sizeof(at);
	uint8_t ipv4[4];

	if (getpeername(fd, &at.any, &n) != 0)
		return false;
	if (at.any.sa_family == AF_INET6) {
		memcpy(ret, &at.ipv6.sin6_addr, MSD_ADDRESS_BYTES);
		return true;
	}
	if (at.any.sa_family != AF_INET)
		return false;
	memcpy(ipv4, &at.ipv4.sin_addr, sizeof(ipv4));
	msd_network_map(ipv4, ret);
	return true;
}

bool msd_network_is_loopback(const uint8_t at[static MSD_ADDRESS_BYTES])
{
	static const struct msd_networks loopback = {
		.n = 2,
		.of = {{.at = {[10] = 0xff, [11] = 0xff, [12] = 127},
			.bits = MAPPED_BITS + 8},
		       {.at = {[15] = 1}, .bits = ALL_BITS}}};

	return msd_networks_hold(&loopback, at);
}
