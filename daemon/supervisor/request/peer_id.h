#ifndef MSD_SUPERVISOR_PEER_ID_H
#define MSD_SUPERVISOR_PEER_ID_H
/*
 * The identity that limits apply to, for any number of connections: a user of the
 * rights file, from any address; otherwise a local user on unix sockets, or an
 * address on TCP. For IPv6 it is the network, because a host can use all its
 * addresses. A single connection is a kind, too, to distinguish it from other
 * connections of its peer. A value; all zeros mean no peer.
 */
#include <stdbool.h>
#include <stdint.h>

enum msd_peer_kind {
	MSD_PEER_UNKNOWN,
	MSD_PEER_USER,
	MSD_PEER_IPV4,
	MSD_PEER_IPV6,
	MSD_PEER_NAME,
	MSD_PEER_CONNECTION
};

struct msd_peer_id {
	enum msd_peer_kind kind;
	uint64_t value;   /* the uid, the address, its upper half, a number per name, a
			     connection's number */
	const char *name; /* of NAME, valid until the daemon exits */
};

#define MSD_PEER_TEXT_BYTES 80u

/** The peer of the connected socket @fd; all zeros if the system does not know it. */
struct msd_peer_id msd_peer_id_of_socket(int fd);
/** The peer with the address @at, sixteen bytes as in IPv6: IPv4 is mapped into it. */
struct msd_peer_id msd_peer_id_of_address(const uint8_t at[static 16]);
/**
 * "user alice", "uid 1000", "192.0.2.7", "2001:db8::/64"; a placeholder if the peer
 * is not known.
 */
const char *msd_peer_id_text(struct msd_peer_id who, char ret[MSD_PEER_TEXT_BYTES]);

/** True if it is connected over the loopback interface. */
bool msd_peer_id_is_loopback(struct msd_peer_id who);

/** Its key in the queues of the closer threads (daemon/loop/closer.h). */
static inline uint64_t msd_peer_id_passer(struct msd_peer_id who)
{
	return (uint64_t)who.kind << 56 ^ who.value;
}

static inline bool msd_peer_id_is(struct msd_peer_id a, struct msd_peer_id b)
{
	return a.kind == b.kind && a.value == b.value;
}

#endif
