#ifndef MSD_SUPERVISOR_SESSION_H
#define MSD_SUPERVISOR_SESSION_H
/*
 * Who asks through one connection, and what is kept for it: its requests in flight, its
 * handles, its rights. How bytes become requests and answers become bytes is its
 * front's: frames of the protocol (framed.h), or HTTP
 * (daemon/supervisor/http/visit.h), which embeds it. The calls of all go one way:
 * standing.h, call.h, the module's queue, msd_client_ops.
 *
 * It ends with the connection: what it queued is dropped, what runs is orphaned, its
 * handles are freed.
 */
#include "daemon/supervisor/edge/principal.h"
#include "daemon/supervisor/request/request.h"
#include "daemon/supervisor/rights/rights.h"
#include "daemon/wire/handle.h"
#include "proto/limits.h"
#include "proto/recognise.h"

struct msd_awaiting;
struct msd_client_peer;
struct msd_loan;
struct msd_session;

/* What a front tells of its connection. */
struct msd_front_look {
	const char *state; /* why nothing is read from it, or that it is */
	uint64_t in_bytes, out_bytes, unread_bytes;
	bool is_refused; /* it has no place, or is ending: it is nobody's */
};

/* What has the connection. Answers go by msd_client.ops. */
struct msd_front_ops {
	void (*look)(struct msd_session *s, struct msd_front_look *ret);
	/** What `receiving` waits for may have room now: ask msd_share_place() again.
	 */
	void (*on_room)(struct msd_session *s);
	/** How much of the payload that `receiving` has a place for has come. */
	uint64_t (*came)(struct msd_session *s);
	/** That place has become smaller: share.h. NULL: the front looks at it each
	 * time. */
	void (*on_reduced)(struct msd_session *s);
	/** End the connection, for @why. */
	void (*close)(struct msd_session *s, msd_err err, const char *why);
};

struct msd_session {
	struct msd_list link; /* msd_edge.everybody */
	struct msd_client client;
	const struct msd_front_ops *front;
	const struct msd_transport *transport; /* of its connection */
	struct msd_edge *edge;
	struct msd_client_peer *peer; /* a reference */
	struct msd_peer_id came_from; /* its peer before it showed a token */
	struct msd_list space_link;   /* msd_edge.space_waiters */
	/* Of what `receiving` is, while others wait for its memory: share.h. */
	struct {
		uint64_t id;       /* the request's */
		uint64_t in_bytes; /* of the connection, when it came as it should */
		uint64_t since_ms; /* ... that is when; 0: it is not looked at */
	} pace;
	struct msd_handles handles;
	struct msd_buf inlines; /* call.c's, of the request that was read last */
	struct msd_buf places;  /* likewise, of outputs in segments */
	/* What it lends, by its numbers less 1: lent.h. A reference each, or NULL. */
	struct msd_loan *loans[MSD_MAX_CLIENT_SEGMENTS];
	struct msd_memory calls;       /* remember.h's */
	struct msd_awaiting *awaiting; /* results that its requests name; or NULL */
	bool has_plans;                /* its front looks there first */
	struct msd_req *receiving; /* whose payload is being read or waits for room */
	uint32_t n_uploads;
	struct msd_principal principal;
	struct msd_standing standing;
	uint64_t number; /* for people */
	uint64_t opened_ms;
};

/** Whose request it is; NULL when it is nobody's any more. */
static inline struct msd_session *msd_session_of(const struct msd_req *r)
{
	return r->client.who != NULL
		       ? MSD_CONTAINER_OF(r->client.who, struct msd_session, client)
		       : NULL;
}
/** Of one of msd_edge.space_waiters: others must give memory back first. */
static inline bool msd_session_wants_room(const struct msd_session *s)
{
	const struct msd_placement *p = &s->receiving->placement;

	return p->budget == NULL || p->missing_bytes > 0;
}
/** Request in flight by the client's id, or NULL. */
struct msd_req *msd_session_find(struct msd_session *s, uint64_t id);
/** A connection of @peer, whose reference it borrows, becomes a session; zeroed before.
 */
void msd_session_init(struct msd_session *s, struct msd_edge *e,
		      const struct msd_client_ops *ops, struct msd_client_peer *peer);
/** Its connection is over: what it queued is dropped, what runs is nobody's. */
void msd_session_leave(struct msd_session *s);

#endif
