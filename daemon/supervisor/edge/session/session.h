#ifndef MSD_SUPERVISOR_SESSION_H
#define MSD_SUPERVISOR_SESSION_H

/*
 * A session: the client of one connection with its requests in flight, handles and
 * rights. A frontend converts between bytes and requests: frames of the protocol
 * (frame_session.h) or HTTP (daemon/supervisor/http/conn/http_conn.h), which embeds it.
 * All calls take one path: authorization.h, call.h, the module's queue, msd_client_ops.
 *
 * The session ends with the connection: queued requests are dropped, running ones are
 * orphaned, handles are freed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "daemon/loop/account.h"
#include "daemon/loop/handle.h"
#include "daemon/loop/list.h"
#include "daemon/stream/conn_timeout.h"
#include "daemon/supervisor/call/call_step.h"
#include "daemon/supervisor/edge/access/principal.h"
#include "daemon/supervisor/request/peer_id.h"
#include "daemon/supervisor/request/request.h"
#include "daemon/supervisor/rights/rights.h"
#include "proto/limits.h"
#include "proto/recognise.h"

struct msd_dependents;
struct msd_client_peer;
struct msd_client_segment;
struct msd_conn;
struct msd_session;

/* Operations of the frontend. Replies use msd_client.ops. */
struct msd_frontend_ops {
	/** "reading", or why the connection is not read. */
	const char *(*state)(const struct msd_session *s);
	/**
	 * `receiving` has room in its slot, which was at @was before if it has given
	 * some back: put the rest of the payload there. Returns true if all of it has
	 * arrived.
	 */
	bool (*fill)(struct msd_session *s, const uint8_t *was);
	/** `receiving` has waited for room; it was filled, then submitted if complete.
	 */
	void (*on_resumed)(struct msd_session *s);
	/** Return how many bytes of the payload of `receiving` have arrived. */
	uint64_t (*came)(struct msd_session *s);
	/**
	 * The place of the payload has become smaller: memory_share.h. NULL: the
	 * frontend checks it each time.
	 */
	void (*on_reduced)(struct msd_session *s);
	/** Close the connection. NULL: msd_conn_close(). */
	void (*close)(struct msd_session *s, msd_err err, const char *why);
};

struct msd_session {
	struct msd_list link; /* msd_edge.everybody */
	struct msd_client client;
	const struct msd_frontend_ops *front;
	struct msd_conn *conn;      /* its connection, in the frontend's struct */
	struct msd_list watch_link; /* msd_edge.sessions, in the order of checks */
	struct msd_conn_timeout watch;
	struct msd_edge *edge;
	struct msd_client_peer *peer; /* a reference */
	struct msd_peer_id came_from; /* its peer before it presented a token */
	struct msd_list space_link;   /* msd_edge.space_waiters */
	/* Progress of `receiving` while other clients wait for memory: memory_share.h.
	 */
	struct {
		uint64_t id;       /* id of the request */
		uint64_t in_bytes; /* bytes of the connection when it was last fast
				      enough */
		uint64_t since_ms; /* ... and the time; 0: not measured */
	} pace;
	struct msd_handles handles;
	struct msd_buf inlines; /* call.c: inline tensors of the last parsed request */
	struct msd_buf places;  /* call.c: outputs in client segments */
	/* Client segments by number minus 1: session_segments.h. Each is a reference or
	 * NULL. */
	struct msd_client_segment *loans[MSD_MAX_CLIENT_SEGMENTS];
	struct msd_memory calls; /* call cache: call_cache.h */
	struct msd_dependents
		*awaiting; /* results that its requests name; NULL: none */
	bool has_plans;    /* the frontend uses the call cache */
	bool is_refused;   /* no connection slot: the client gets the reason, and the
			      connection is closed */
	enum msd_call_state call;  /* state of `receiving`: receiving.h */
	struct msd_req *receiving; /* its payload is being read or waits for room */
	uint64_t receiving_bytes;  /* size of that payload */
	uint32_t n_uploads;
	struct msd_principal principal;
	struct msd_authorization authorization;
	uint64_t number; /* shown to people */
	uint64_t opened_ms;
};

/** Return the session of @r. NULL: the session has ended. */
static inline struct msd_session *msd_session_of(const struct msd_req *r)
{
	return r->client.who != NULL
		       ? MSD_CONTAINER_OF(r->client.who, struct msd_session, client)
		       : NULL;
}
/**
 * For an entry of msd_edge.space_waiters: true if other clients must release memory
 * first.
 */
static inline bool msd_session_wants_room(const struct msd_session *s)
{
	const struct msd_placement *p = &s->receiving->placement;

	return p->budget == NULL || p->missing_bytes > 0;
}
/** Return the request in flight with the client's @id, or NULL. */
struct msd_req *msd_session_find(struct msd_session *s, uint64_t id);
/**
 * Initialize @s, which is zeroed, for the connection @conn of @peer. It borrows the
 * reference to @peer.
 */
void msd_session_init(struct msd_session *s, struct msd_edge *e,
		      const struct msd_client_ops *ops, struct msd_client_peer *peer,
		      struct msd_conn *conn);
/** Close the connection of @s, and tell its client @err and @why if it can be told. */
void msd_session_close(struct msd_session *s, msd_err err, const char *why);
/** The connection ended: drop queued requests and orphan running ones. */
void msd_session_leave(struct msd_session *s);

/*
 * Totals over all connections of one peer (daemon/supervisor/request/peer_id.h):
 * their number and the resources that they hold. The object lives while the peer has
 * a connection.
 */

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
