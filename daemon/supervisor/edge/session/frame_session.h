#ifndef MSD_SUPERVISOR_FRAME_SESSION_H
#define MSD_SUPERVISOR_FRAME_SESSION_H
/* A session whose connection carries protocol frames. frontend.c opens and closes it
 * and turns frames into requests; this file sends the replies. */
#include "daemon/supervisor/edge/session/session.h"

struct msd_frame_session {
	struct msd_session session;
	struct msd_conn conn;
	uint64_t highest_id; /* highest request id so far */
	/* State while the session holds too much memory: memory_pressure.h. */
	struct {
		struct msd_list link; /* msd_edge.held_back */
		uint64_t bytes;       /* bytes held at the last check */
		uint64_t since_ms;
	} pressure;
};

/** Return the frame session of @s, which must use frames. */
static inline struct msd_frame_session *msd_frame_session_of(struct msd_session *s)
{
	return MSD_CONTAINER_OF(s, struct msd_frame_session, session);
}
/** Send `[1, id, nil, result]`. */
void msd_frame_session_reply(struct msd_frame_session *f, uint64_t id,
			     const struct msd_buf *result);
/* A result and the data that is sent with it. */
struct msd_frame_session_answer {
	const struct msd_buf *result;
	bool has_meta;             /* a map of further facts follows the result */
	int fd;                    /* sent with the reply, then closed; -1: none */
	struct msd_shared *shared; /* borrowed; NULL: none */
	struct msd_span part;      /* part of @shared that ends the result */
};
/** Send @a as the reply to @id. */
void msd_frame_session_reply_with(struct msd_frame_session *f, uint64_t id,
				  const struct msd_frame_session_answer *a);
/** Send `[1, id, [code, name, text, {}], nil]` from @d, with the retry time. */
void msd_frame_session_reply_failure(struct msd_frame_session *f, uint64_t id,
				     const struct msd_diag *d);
/**
 * Like msd_frame_session_reply_failure(), if the client can proceed in another way. It
 * does not count as an error.
 */
void msd_frame_session_reply_otherwise(struct msd_frame_session *f, uint64_t id,
				       const struct msd_diag *d);
/** Implements msd_frontend_ops.state. */
const char *msd_frame_session_state(const struct msd_session *s);
/**
 * Log the end of the connection at a bounded rate: a client may break the protocol as
 * often as it can connect.
 */
void msd_frame_session_log_end(struct msd_frame_session *f, msd_err err,
			       const char *why);
/**
 * Return the last message to the client, `session.close`; implements
 * msd_conn_ops.farewell. An HTTP client gets an HTTP response instead.
 */
struct msd_out *msd_frame_session_farewell(struct msd_conn *c, msd_err err,
					   const char *why);

#endif
