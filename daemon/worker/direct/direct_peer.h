#ifndef MSD_WORKER_DIRECT_PEER_H
#define MSD_WORKER_DIRECT_PEER_H
/*
 * A direct peer: a client with its own socket to this worker, made by the supervisor.
 * It may only call functions over it. Its tensors are in the frames. It has only the
 * resources that the supervisor gave it: a number of waiting requests and bytes, the
 * named functions, and a share of the memory for results.
 *
 *   (worker.peer) --> reads --(its socket is shut down)--> leaves --> gone
 *                       '--------- its end, a breach -----------------^
 *
 * A leaving peer gets replies to all requests that it had sent.
 */
#include "daemon/limits.h"
#include "daemon/stream/conn_timeout.h"
#include "daemon/worker/worker.h"

/* Limit of unread replies; above it no call of the peer is started. */
#define MSD_DIRECT_PEER_UNREAD_BYTES (1u << 20)
/* Limits of one call's body, and of all waiting bodies: their memory counts as the
 * module's. */
#define MSD_DIRECT_PEER_BODY_BYTES (64u << 10)
#define MSD_DIRECT_PEER_BODIES_BYTES (256u << 10)
/* Free memory to keep for its payloads, at most the limit of its waiting requests or a
 * segment; all of more is returned to the system. To map and first touch 1 MiB costs
 * twice as much as the rest of such a call. */
#define MSD_DIRECT_PEER_KEPT_BYTES (4u << 20)

struct msd_direct_peer_results;

struct msd_direct_peer {
	uint16_t number; /* the supervisor's number for it: 1 to MSD_MAX_GUESTS */
	uint32_t max_requests;
	uint64_t max_bytes;  /* limit of bytes in waiting requests */
	uint64_t held_bytes; /* current bytes in waiting requests */
	uint64_t body_bytes; /* part of held_bytes: bodies */
	uint64_t slow_ns;    /* threshold for slow calls; 0: none */
	uint8_t *functions;  /* owned: names as msgpack's str; NULL: all */
	size_t n_functions;  /* bytes of functions */
	/*
	 * Memory for payloads, which no other process maps. It is shared memory so that
	 * it does not count as data: the limit of a worker's data (--max-worker-memory)
	 * is for its module alone, and the daemon's own calls use segments, too.
	 */
	struct msd_segpool payloads;
	struct msd_slot coming; /* for the payload of a frame; p NULL: none */
	struct msd_direct_peer_results *results; /* owned: results of the last call */
	/* The channel that admitted it; NULL: that is closed, and no peer is notified
	 * of its end. */
	struct msd_peer *host;
	struct msd_limits stall; /* only the limits of peer_timeout.h are set */
	struct msd_conn_timeout watch;
	/* While it leaves: written bytes at its last progress in reading, and when. */
	uint64_t read_bytes, read_ms;
	/* Its channel is taken back (conn.reads_on), and all its bytes were read. */
	bool has_said_all;
};

/** Free the direct-channel state of @peer; NULL is allowed. */
void msd_direct_peer_free(struct msd_peer *peer);

/**
 * Check if its request @r may run, which calls @function; NULL: none is named, which
 * the call reports itself. Errors: MSD_REFUSED, MSD_UNSUPPORTED.
 */
MSD_MUST_CHECK msd_err msd_direct_peer_check(const struct msd_request *r,
					     const struct msd_span *function,
					     struct msd_diag *d);
/** True if it must read replies before its next request starts. */
static inline bool msd_direct_peer_is_full(const struct msd_peer *peer)
{
	return peer->guest != NULL &&
	       peer->conn.queued_bytes > MSD_DIRECT_PEER_UNREAD_BYTES;
}
/**
 * True if it has its maximum of requests, or of bytes in requests or replies. It is
 * not read until msd_direct_peer_is_light().
 */
bool msd_direct_peer_is_laden(const struct msd_peer *peer);
bool msd_direct_peer_is_light(const struct msd_peer *peer);

/** Reserve memory for @bytes of a payload: `coming`. False: none is available. */
MSD_MUST_CHECK bool msd_direct_peer_payload_get(struct msd_direct_peer *g,
						uint64_t bytes);
/** Free it, if it is there; then it is not. */
void msd_direct_peer_payload_free(struct msd_direct_peer *g, struct msd_slot *slot);

/**
 * Reserve @bytes for a result. The peer has a guaranteed share of max_out. Beyond
 * that it can use max_out, less the bytes that other direct peers use above their
 * shares. So a reply that the daemon could carry also fits here. Errors:
 * MSD_NO_SPACE, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_direct_peer_alloc(struct msd_peer *peer, uint64_t bytes,
					     enum msd_outpool_as as,
					     struct msd_slot *ret, struct msd_diag *d);
/** Keep the results of a call for its reply: @n slots in the order of the reply. */
MSD_MUST_CHECK msd_err msd_direct_peer_keep(struct msd_peer *peer,
					    const struct msd_slot *slots, uint32_t n,
					    struct msd_diag *d);
/** Send @body and the kept results behind it. */
void msd_direct_peer_reply(struct msd_peer *peer, const struct msd_buf *body);
/** Free the kept results without sending. */
void msd_direct_peer_drop_results(struct msd_peer *peer);

#endif
