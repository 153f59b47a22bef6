#ifndef MSD_SUPERVISOR_HTTP_CONN_STATE_H
#define MSD_SUPERVISOR_HTTP_CONN_STATE_H
/*
 * The state of one HTTP connection, for its implementation: opening and end
 * (http_conn.c), the codec of its connection (http_conn_codec.c) and requests
 * (http_conn_serve.c).
 */
#include "daemon/http/reader.h"
#include "daemon/stream/codec.h"
#include "daemon/stream/conn.h"
#include "daemon/supervisor/http/http_session.h"

struct msd_http_conn {
	struct msd_http_session caller; /* its session's peer: a reference and a slot */
	struct msd_conn conn;
	struct msd_http_reader reader;
	/* From the last head: size of the JSON before its tensors; 0 if chunked. */
	size_t part_bytes;
	bool is_infer, brings_tensors;
	struct msd_buf out;     /* replies that are not queued yet */
	uint64_t charged_bytes; /* to its account */
	bool is_ending;   /* no more requests are read; lingers when all is written */
	bool ends_behind; /* the last request, answered before it was complete */
	bool is_closed;   /* a thread still uses its data */
};

extern const struct msd_codec msd_http_codec;

static inline struct msd_http_conn *msd_http_conn_of(struct msd_http_session *c)
{
	return MSD_CONTAINER_OF(c, struct msd_http_conn, caller);
}
/** True if the last reply, or room for its inputs, is pending. */
static inline bool msd_http_conn_is_awaiting(const struct msd_http_conn *v)
{
	return (v->conn.paused & MSD_PAUSE_REQUESTS) != 0;
}
/** Read nothing until the reply, or the room, is there. */
static inline void msd_http_conn_await(struct msd_http_conn *v, bool is_awaiting)
{
	msd_conn_pause(&v->conn, MSD_PAUSE_REQUESTS, is_awaiting);
}
/** Charge its memory to its peer. */
void msd_http_conn_charge(struct msd_http_conn *v);
/**
 * Queue the replies of `out`, and charge its memory. It lingers after its last reply,
 * and is closed if it holds too much.
 */
void msd_http_conn_settle(struct msd_http_conn *v);

#endif
