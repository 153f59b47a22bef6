#include "daemon/fetch/transfer/public_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

struct block {
	uint8_t address[16];
	unsigned bits;
};

/*
 * Unspecified, private and shared networks, loopback, link-local (cloud metadata),
 * protocol assignments, documentation, 6to4 relays, benchmarks, multicast, and
 * reserved addresses with broadcast.
 */
static const struct block kept_v4[] = {{{0}, 8},
				       {{10}, 8},
				       {{100, 64}, 10},
				       {{127}, 8},
				       {{169, 254}, 16},
				       {{172, 16}, 12},
				       {{192, 0, 0}, 24},
				       {{192, 0, 2}, 24},
				       {{192, 88, 99}, 24},
				       {{192, 168}, 16},
				       {{198, 18}, 15},
				       {{198, 51, 100}, 24},
				       {{203, 0, 113}, 24},
				       {{224}, 4},
				       {{240}, 4}};

/* Excluded from the global unicast addresses: protocols (including Teredo) and
 * documentation. */
static const struct block kept_v6[] = {
	{{0x20, 0x01}, 23}, {{0x20, 0x01, 0x0d, 0xb8}, 32}, {{0x3f, 0xff}, 20}};
static const struct block global_v6 = {{0x20}, 3};

/* An IPv6 address with an embedded IPv4 address leads to the IPv4 address. */
static const struct {
	struct block block;
	unsigned at;
} embeds_v4[] = {{{{[10] = 0xff, [11] = 0xff}, 96}, 12}, /* mapped */
		 {{{0x00, 0x64, 0xff, 0x9b}, 96}, 12},   /* NAT64 */
		 {{{0x20, 0x02}, 16}, 2}};               /* 6to4 */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_in(const uint8_t *address, const struct block *b)
{
	const unsigned whole = b->bits / 8, rest = b->bits % 8;
	const uint8_t mask = (uint8_t)(0xff00u >> rest);

	return memcmp(address, b->address, whole) == 0 &&
	       (rest == 0 || ((address[whole] ^ b->address[whole]) & mask) == 0);
}

static bool is_kept(const uint8_t *address, const struct block *blocks, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (is_in(address, &blocks[i]))
			return true;
	}
	return false;
}

static bool is_public_v4(const uint8_t *address)
{
	return !is_kept(address, kept_v4, COUNT(kept_v4));
}

static bool is_public_v6(const uint8_t *address)
{
	for (size_t i = 0; i < COUNT(embeds_v4); i++) {
		if (is_in(address, &embeds_v4[i].block))
			return is_public_v4(address + embeds_v4[i].at);
	}
	return is_in(address, &global_v6) && !is_kept(address, kept_v6, COUNT(kept_v6));
}

bool msd_public_is(const struct sockaddr *a)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	switch (a->sa_family) {
	case AF_INET:
		memcpy(&v4, a, sizeof(v4));
		return is_public_v4((const uint8_t *)&v4.sin_addr);
	case AF_INET6:
		memcpy(&v6, a, sizeof(v6));
		return is_public_v6(v6.sin6_addr.s6_addr);
	default:
		return false;
	}
}

bool msd_public_is_text(const char *address)
{
	struct in_addr v4;
	struct in6_addr v6;

	if (inet_pton(AF_INET, address, &v4) == 1)
		return is_public_v4((const uint8_t *)&v4);
	return inet_pton(AF_INET6, address, &v6) == 1 && is_public_v6(v6.s6_addr);
}
