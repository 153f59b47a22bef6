#ifndef MSD_SUPERVISOR_VISIT_STATE_H
#define MSD_SUPERVISOR_VISIT_STATE_H
/*
 * One connection of the HTTP front, for those who carry it: its beginning (visit.c),
 * its turns (visit_turn.c), its requests (visit_serve.c), what it writes
 * (visit_write.c) and its end (visit_end.c).
 */
#include "daemon/http/reader.h"
#include "daemon/supervisor/edge/watch.h"
#include "daemon/supervisor/http/caller.h"
#include "daemon/wire/transport.h"
#include "daemon/wire/wire.h"

enum msd_visit_state { MSD_VISIT_OPEN, MSD_VISIT_ENDING, MSD_VISIT_LINGERING };

struct msd_visit {
	struct msd_list link;     /* msd_http.visits */
	struct msd_caller caller; /* its session's peer: a reference, and a place at the
				   * door */
	struct msd_transport transport;
	uv_poll_t poll;
	int events; /* what poll waits for */
	struct msd_taker taker;
	enum msd_visit_state state;
	struct msd_http_reader reader;
	/* Of the last head: how much JSON is in front of its tensors; in chunks 0. */
	size_t part_bytes;
	bool brings_tensors;
	struct msd_buf ahead, out; /* read and not served; answered and not written */
	size_t ahead_at, out_at;
	size_t tail_left;       /* bytes of caller.tail that are not written */
	uint64_t charged_bytes; /* to its account */
	struct msd_watch watch;
	uint64_t n_requests; /* whole ones */
	uint64_t bytes_in, bytes_out;
	uint64_t last_progress_ms; /* of writing, loop time */
	uint64_t lingered_bytes;
	bool is_awaiting; /* the answer to the last request, or room for its rest */
	bool ends_behind; /* it was answered before it was whole, and is the last */
	bool peer_has_ended, is_closing, is_closed;
};

/** Of what has come not all is served. */
static inline bool msd_visit_has_ahead(const struct msd_visit *v)
{
	return v->ahead_at < v->ahead.n;
}

#endif
