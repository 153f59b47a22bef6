#ifndef MSD_SUPERVISOR_PEER_ID_H
#define MSD_SUPERVISOR_PEER_ID_H
/*
 * Who is counted as one, however many connections it has: a user of the file of rights
 * wherever it comes from, else a user of this machine on unix sockets, an address on
 * TCP (of IPv6 the network, for whoever has one has all its addresses). One connection
 * alone, where that is to be told from its peer's others, is a kind, too. A value; all
 * zeros are nobody.
 */
#include <stdbool.h>
#include <stdint.h>

enum msd_peer_kind {
	MSD_PEER_NOBODY,
	MSD_PEER_USER,
	MSD_PEER_IPV4,
	MSD_PEER_IPV6,
	MSD_PEER_NAME,
	MSD_PEER_CONNECTION
};

struct msd_peer_id {
	enum msd_peer_kind kind;
	uint64_t value;   /* the uid, the address, the upper half of it, one a name, a
			     connection's number */
	const char *name; /* of NAME, kept for as long as the daemon runs */
};

#define MSD_PEER_TEXT_BYTES 80u

/** Whoever is at the other end of the connected socket @fd; nobody, when the system
 * does not say. */
struct msd_peer_id msd_peer_id_of_socket(int fd);
/** Who comes from @at, sixteen bytes as of IPv6: IPv4 is mapped into it. */
struct msd_peer_id msd_peer_id_of_address(const uint8_t at[static 16]);
/** "user alice", "uid 1000", "192.0.2.7", "2001:db8::/64", "somebody". */
const char *msd_peer_id_text(struct msd_peer_id who, char ret[MSD_PEER_TEXT_BYTES]);

/** It came over this machine's loopback. */
bool msd_peer_id_is_loopback(struct msd_peer_id who);

/** What stands for it where descriptors are closed (daemon/wire/aside.h). */
static inline uint64_t msd_peer_id_passer(struct msd_peer_id who)
{
	return (uint64_t)who.kind << 56 ^ who.value;
}

static inline bool msd_peer_id_is(struct msd_peer_id a, struct msd_peer_id b)
{
	return a.kind == b.kind && a.value == b.value;
}

#endif
