#ifndef MSD_SUPERVISOR_HTTP_CONN_STATE_H
#define MSD_SUPERVISOR_HTTP_CONN_STATE_H
/*
 * The state of one HTTP connection, for its implementation: opening (http_conn.c),
 * scheduling (http_conn_turn.c), requests (http_conn_serve.c), output
 * (http_conn_write.c) and end (http_conn_end.c).
 */
#include "daemon/http/reader.h"
#include "daemon/stream/transport.h"
#include "daemon/stream/wire.h"
#include "daemon/supervisor/edge/session/conn_timeout.h"
#include "daemon/supervisor/http/http_session.h"

enum msd_http_conn_state {
	MSD_HTTP_CONN_OPEN,
	MSD_HTTP_CONN_ENDING,
	MSD_HTTP_CONN_LINGERING
};

struct msd_http_conn {
	struct msd_list link;           /* msd_http.visits */
	struct msd_http_session caller; /* its session's peer: a reference and a slot */
	struct msd_transport transport;
	uv_poll_t poll;
	int events; /* events that poll waits for */
	struct msd_schedulable taker;
	enum msd_http_conn_state state;
	struct msd_http_reader reader;
	/* From the last head: size of the JSON before its tensors; 0 if chunked. */
	size_t part_bytes;
	bool is_infer, brings_tensors;
	struct msd_buf ahead, out; /* read and not served; answered and not written */
	size_t ahead_at, out_at;
	size_t tail_left;       /* bytes of caller.tail that are not written */
	uint64_t charged_bytes; /* to its account */
	struct msd_conn_timeout watch;
	uint64_t n_requests; /* complete requests */
	uint64_t bytes_in, bytes_out;
	uint64_t last_progress_ms; /* of writing, loop time */
	uint64_t lingered_bytes;
	bool is_awaiting; /* the last reply, or room for its inputs, is pending */
	bool ends_behind; /* the last request, answered before it was complete */
	bool peer_has_ended, is_closing, is_closed;
};

/** True if received bytes are not served yet. */
static inline bool msd_http_conn_has_ahead(const struct msd_http_conn *v)
{
	return v->ahead_at < v->ahead.n;
}

#endif
