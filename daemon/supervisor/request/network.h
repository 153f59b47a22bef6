#ifndef MSD_SUPERVISOR_NETWORK_H
#define MSD_SUPERVISOR_NETWORK_H
/*
 * Ranges of addresses, as ADDRESS or ADDRESS/BITS says them. An address is the sixteen
 * bytes of IPv6; one of IPv4 is mapped into it, so that a socket of both families means
 * the same by it.
 */
#include <stdbool.h>
#include <stdint.h>

#define MSD_ADDRESS_BYTES 16u
#define MSD_MAX_NETWORKS 16u

struct msd_network {
	uint8_t at[MSD_ADDRESS_BYTES];
	uint32_t bits; /* that count, from the first: of IPv4 96 and more */
};

struct msd_networks {
	uint32_t n;
	struct msd_network of[MSD_MAX_NETWORKS];
};

/** Read "192.0.2.0/24", "2001:db8::/32" or an address alone. False: it is none. */
bool msd_network_parse(const char *text, struct msd_network *ret);
/** Is @at in one of @ns? */
bool msd_networks_hold(const struct msd_networks *ns,
		       const uint8_t at[static MSD_ADDRESS_BYTES]);
/** Map an address of IPv4. */
void msd_network_map(const uint8_t ipv4[static 4],
		     uint8_t ret[static MSD_ADDRESS_BYTES]);
/** Who is at the other end of the connected socket @fd. False: it has no address. */
bool msd_network_peer(int fd, uint8_t ret[static MSD_ADDRESS_BYTES]);
/** Is @at of this machine, by which nothing leaves it? */
bool msd_network_is_loopback(const uint8_t at[static MSD_ADDRESS_BYTES]);

#endif
