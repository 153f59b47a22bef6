#ifndef MSD_SUPERVISOR_HTTP_SESSION_H
#define MSD_SUPERVISOR_HTTP_SESSION_H
/* The session of an HTTP connection, and its current request. Requests are answered
 * one after the other, so it has at most one call at a time (infer.h). */
#include "daemon/http/scatter.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/http/bearer.h"
#include "daemon/supervisor/http/exchange.h"
#include "daemon/supervisor/http/route_match.h"

struct msd_work_lane;
struct msd_history;
struct msd_infer;
struct msd_chunked_answer;

struct msd_http_session {
	struct msd_session session;
	struct msd_http_exchange asking;
	struct msd_bearer bearer;      /* identity of the current request */
	struct msd_route_match course; /* route of its last request */
	struct msd_work_lane *json;
	const struct msd_history *history;
	struct msd_infer *infer;   /* its call; NULL: no call */
	struct msd_scatter inputs; /* destination of inputs that still arrive */
	struct msd_chunked_answer
		*pieces;     /* reply that is written in chunks; NULL: none */
	struct msd_buf text; /* first part of the tail, not copied */
	struct iovec *tail;  /* data to send after the reply, in place; owned */
	uint32_t n_tail;
	struct msd_out *held; /* owner of these bytes */
	bool is_starting;     /* the starting function handles the reply */
	/** The deferred reply is ready, in `asking`. */
	void (*on_answer)(struct msd_http_session *c);
	/** Its call has waited, and now has room for inputs that are still arriving. */
	void (*on_room)(struct msd_http_session *c);
	/** It uses more memory than before, in `asking`. */
	void (*on_grown)(struct msd_http_session *c);
};

#endif
