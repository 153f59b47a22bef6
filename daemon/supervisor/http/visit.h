#ifndef MSD_SUPERVISOR_VISIT_H
#define MSD_SUPERVISOR_VISIT_H
/*
 * One connection of the HTTP front: requests are read, answered in their order and
 * written. It is owned by the loop from its opening on and frees itself.
 *
 * It lives by the rules of all connections: a place at the door, an account of what it
 * holds, turns, and the watch's times. While an answer is not written nothing is read,
 * so what it holds is one body and its answers to what was read at once.
 *
 *   OPEN --an error, Connection: close, the peer's end--> ENDING --all is written-->
 *   LINGERING --the peer has read it and closed--> (freed)
 */
#include "daemon/http/reader.h"
#include "daemon/supervisor/edge/watch.h"
#include "daemon/supervisor/http/caller.h"
#include "daemon/supervisor/http/http.h"
#include "daemon/wire/transport.h"

struct msd_client_peer;

enum msd_visit_state { MSD_VISIT_OPEN, MSD_VISIT_ENDING, MSD_VISIT_LINGERING };

struct msd_visit {
	struct msd_list link; /* msd_http.visits */
	struct msd_http *http;
	struct msd_caller caller; /* its session's peer: a reference, and a place at the
				   * door */
	struct msd_transport transport;
	uv_poll_t poll;
	int events; /* what poll waits for */
	enum msd_visit_state state;
	struct msd_http_reader reader;
	struct msd_buf ahead, out; /* read and not served; answered and not written */
	size_t ahead_at, out_at;
	size_t tail_left;       /* bytes of caller.tail that are not written */
	uint64_t charged_bytes; /* to its account */
	struct msd_watch watch;
	uint64_t n_requests; /* whole ones */
	uint64_t bytes_in, bytes_out;
	uint64_t last_progress_ms; /* of writing, loop time */
	uint64_t lingered_bytes;
	bool is_awaiting; /* the answer to the last request */
	bool peer_has_ended, is_closing, is_closed;
};

/** Take over a connection of @who, with @peer's reference and place at the door. */
void msd_visit_open(struct msd_http *h, struct msd_transport transport,
		    struct msd_principal who, struct msd_client_peer *peer);
/** Of what has come not all is served. */
static inline bool msd_visit_has_ahead(const struct msd_visit *v)
{
	return v->ahead_at < v->ahead.n;
}
/** Close it now; it is freed on a later turn. Idempotent. */
void msd_visit_close(struct msd_visit *v, const char *why);

#endif
