#ifndef MSD_SUPERVISOR_CLIENT_PEER_H
#define MSD_SUPERVISOR_CLIENT_PEER_H
/*
 * Totals over all connections of one peer (daemon/supervisor/request/peer_id.h):
 * their number and the resources that they hold. The object lives while the peer has
 * a connection.
 */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/account.h"
#include "daemon/loop/list.h"
#include "daemon/supervisor/request/peer_id.h"

struct msd_client_peers {
	struct msd_list all; /* msd_client_peer.link */
	struct msd_account account;
};

struct msd_client_peer {
	struct msd_list link; /* msd_client_peers.all */
	struct msd_peer_id who;
	struct msd_account account; /* of its connections */
	/* Rejected connections do not count. Closed ones count until handle_disposal.h
	 * has dropped all their handles. */
	uint32_t n_connections;
	uint32_t n_lent; /* client segments of its connections, and their bytes */
	uint64_t lent_bytes;
	uint32_t n_uploads; /* started while their connection belonged to this peer */
	uint32_t n_refs;
};

/** True for the daemon's own user and for root, which can stop the daemon anyway. */
bool msd_client_peer_is_operator(const struct msd_client_peer *p);

/** Initialize without peers. All peers together may hold @max_bytes. */
void msd_client_peers_init(struct msd_client_peers *ps, uint64_t max_bytes);
/**
 * Return the peer @who with one reference for the caller. A new peer may hold at most
 * @max_bytes. NULL: out of memory.
 */
struct msd_client_peer *msd_client_peer_get(struct msd_client_peers *ps,
					    struct msd_peer_id who, uint64_t max_bytes);
struct msd_client_peer *msd_client_peer_ref(struct msd_client_peer *p);
void msd_client_peer_unref(struct msd_client_peer *p);

#endif
