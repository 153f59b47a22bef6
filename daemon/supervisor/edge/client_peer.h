#ifndef MSD_SUPERVISOR_CLIENT_PEER_H
#define MSD_SUPERVISOR_CLIENT_PEER_H
/*
 * All connections of one peer (daemon/supervisor/request/peer_id.h), as far as they are
 * counted together: how many they are, and what they hold. It lives while it has a
 * connection.
 */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/supervisor/request/peer_id.h"
#include "daemon/wire/account.h"
#include "daemon/wire/list.h"

struct msd_client_peers {
	struct msd_list all; /* msd_client_peer.link */
	struct msd_account account;
};

struct msd_client_peer {
	struct msd_list link; /* msd_client_peers.all */
	struct msd_peer_id who;
	struct msd_account account; /* of its connections */
	/* Connections that are being refused do not count; ended ones count until
	 * leavings.h has dropped all that they left. */
	uint32_t n_connections;
	uint32_t n_lent; /* segments of its connections, and their bytes */
	uint64_t lent_bytes;
	uint32_t n_uploads; /* begun while their connection was this peer's */
	uint32_t n_refs;
};

/** The user that the daemon runs as, or root: who may end it anyway. */
bool msd_client_peer_is_operator(const struct msd_client_peer *p);

/** None yet; all may hold @max_bytes together. */
void msd_client_peers_init(struct msd_client_peers *ps, uint64_t max_bytes);
/** The peer @who, made of at most @max_bytes when it is not there. One reference for
 * the caller. NULL: out of memory. */
struct msd_client_peer *msd_client_peer_take(struct msd_client_peers *ps,
					     struct msd_peer_id who,
					     uint64_t max_bytes);
struct msd_client_peer *msd_client_peer_ref(struct msd_client_peer *p);
void msd_client_peer_unref(struct msd_client_peer *p);

#endif
