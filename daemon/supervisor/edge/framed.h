#ifndef MSD_SUPERVISOR_FRAMED_H
#define MSD_SUPERVISOR_FRAMED_H
/*
 * A session whose front is the protocol: its connection carries frames. Opened and
 * ended by front.c, which makes requests of them; here is what it is told.
 */
#include "daemon/supervisor/edge/session.h"
#include "daemon/supervisor/edge/watch.h"

struct msd_framed {
	struct msd_session session;
	struct msd_conn conn;
	struct msd_list link; /* msd_edge.sessions */
	uint64_t highest_id;  /* of its requests so far */
	bool is_refused;      /* it has no place: it is told so, and closed */
	/* While it holds more than it may: pressure.h. */
	struct {
		struct msd_list link; /* msd_edge.held_back */
		uint64_t bytes;       /* what it held */
		uint64_t since_ms;
	} pressure;
	struct msd_watch watch;
};

/** Of a session that has asked by a frame. */
static inline struct msd_framed *msd_framed_of(struct msd_session *s)
{
	return MSD_CONTAINER_OF(s, struct msd_framed, session);
}
/** Send `[1, id, nil, result]`. */
void msd_framed_reply(struct msd_framed *f, uint64_t id, const struct msd_buf *result);
/* A result, and what is sent with it. */
struct msd_framed_answer {
	const struct msd_buf *result;
	bool has_meta; /* a map of further facts lies behind the result */
	int fd;        /* is sent with it, and closed after that; -1: none */
	struct msd_shared *shared; /* borrowed; NULL: none */
	struct msd_span part;      /* of it: the result's end */
};
/** Send it. */
void msd_framed_reply_with(struct msd_framed *f, uint64_t id,
			   const struct msd_framed_answer *a);
/** Send `[1, id, [code, name, text, {}], nil]`, what @d says, with when to try again.
 */
void msd_framed_reply_failure(struct msd_framed *f, uint64_t id,
			      const struct msd_diag *d);
/** The same where the client has another way, and is not refused what it wants: it is
 * counted as no error. */
void msd_framed_reply_otherwise(struct msd_framed *f, uint64_t id,
				const struct msd_diag *d);
/** What it tells of its connection; as msd_front_ops.look. */
void msd_framed_look(struct msd_session *s, struct msd_front_look *ret);
/** Say in the log that its connection is over, at a bounded rate: a client may break
 * the protocol as often as it can connect. */
void msd_framed_log_end(struct msd_framed *f, msd_err err, const char *why);
/** What its client is told last, `session.close`; as msd_conn_ops.farewell.
 * Who speaks HTTP is told in that. */
struct msd_out *msd_framed_farewell(struct msd_conn *c, msd_err err, const char *why);

#endif
