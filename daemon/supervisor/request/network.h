#ifndef MSD_SUPERVISOR_NETWORK_H
#define MSD_SUPERVISOR_NETWORK_H
/*
 * Address ranges, written as ADDRESS or ADDRESS/BITS. An address is the 16 bytes of
 * IPv6; an IPv4 address is mapped into it, so that a dual-stack socket gives the same
 * address.
 */
#include <stdbool.h>
#include <stdint.h>

#define MSD_ADDRESS_BYTES 16u
#define MSD_MAX_NETWORKS 16u

struct msd_network {
	uint8_t at[MSD_ADDRESS_BYTES];
	uint32_t bits; /* prefix length; at least 96 for IPv4 */
};

struct msd_networks {
	uint32_t n;
	struct msd_network of[MSD_MAX_NETWORKS];
};

/**
 * Read "192.0.2.0/24", "2001:db8::/32" or a single address. Returns false if it is
 * not valid.
 */
bool msd_network_parse(const char *text, struct msd_network *ret);
/** True if @at is in one of @ns. */
bool msd_networks_hold(const struct msd_networks *ns,
		       const uint8_t at[static MSD_ADDRESS_BYTES]);
/** Map an IPv4 address. */
void msd_network_map(const uint8_t ipv4[static 4],
		     uint8_t ret[static MSD_ADDRESS_BYTES]);
/** The peer address of the connected socket @fd. Returns false if it has no address. */
bool msd_network_peer(int fd, uint8_t ret[static MSD_ADDRESS_BYTES]);
/** True if @at is a loopback address. */
bool msd_network_is_loopback(const uint8_t at[static MSD_ADDRESS_BYTES]);

#endif
