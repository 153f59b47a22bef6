#ifndef MSD_SUPERVISOR_SESSION_H
#define MSD_SUPERVISOR_SESSION_H
/*
 * One client connection: its requests in flight and its handles. Opened and ended by
 * front.c; ends with the connection: what it queued is dropped, what runs is orphaned,
 * its handles are freed.
 */
#include "daemon/supervisor/edge/principal.h"
#include "daemon/supervisor/edge/watch.h"
#include "daemon/supervisor/request/request.h"
#include "daemon/supervisor/rights/rights.h"
#include "daemon/wire/handle.h"

struct msd_client_peer;

struct msd_session {
	struct msd_conn conn;
	struct msd_client client;
	struct msd_edge *edge;
	struct msd_client_peer *peer; /* a reference */
	struct msd_list link;         /* msd_edge.sessions */
	struct msd_list space_link;   /* msd_edge.space_waiters */
	struct msd_handles handles;
	struct msd_buf inlines;    /* call.c's, of the request that was read last */
	struct msd_req *receiving; /* whose payload is being read or waits for room */
	uint64_t highest_id;       /* of its requests so far */
	uint32_t n_uploads;
	bool is_refused; /* it has no place: it is told so, and closed */
	/* While it holds more than it may: pressure.h. */
	struct {
		struct msd_list link; /* msd_edge.held_back */
		uint64_t bytes;       /* what it held */
		uint64_t since_ms;
	} pressure;
	struct msd_watch watch;
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
	return s->receiving->placement.budget == NULL;
}
/** Request in flight by the client's id, or NULL. */
struct msd_req *msd_session_find(struct msd_session *s, uint64_t id);
/** Send `[1, id, nil, result]`. */
void msd_session_reply(struct msd_session *s, uint64_t id,
		       const struct msd_buf *result);
/** The same of a result that ends with @part of @shared; NULL: with its own bytes. */
void msd_session_reply_shared(struct msd_session *s, uint64_t id,
			      const struct msd_buf *result, struct msd_shared *shared,
			      struct msd_span part);
/** Send `[1, id, [code, name, text, {}], nil]`. */
void msd_session_reply_error(struct msd_session *s, uint64_t id, msd_err err,
			     const char *text);
/** The same of what @d says, with when to try again. */
void msd_session_reply_failure(struct msd_session *s, uint64_t id,
			       const struct msd_diag *d);
/** Say in the log that its connection is over, at a bounded rate: a client may break
 * the protocol as often as it can connect. */
void msd_session_log_end(struct msd_session *s, msd_err err, const char *why);
/** What its client is told last, `session.close`; as msd_conn_ops.farewell. */
struct msd_out *msd_session_farewell(struct msd_conn *c, msd_err err, const char *why);

#endif
