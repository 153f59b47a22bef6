#ifndef MSD_SUPERVISOR_HTTP_CONN_WRITE_H
#define MSD_SUPERVISOR_HTTP_CONN_WRITE_H
/* The output of an HTTP connection: its replies, and after the last reply its
 * tensors, in place. */
#include "daemon/supervisor/http/conn/http_conn_state.h"

/** Bytes of replies that are not sent yet. */
size_t msd_http_conn_unwritten(const struct msd_http_conn *v);
/** Write as much as the socket accepts without blocking. */
void msd_http_conn_flush(struct msd_http_conn *v);
/**
 * All is written: wait for the peer to close, because closing with unread bytes would
 * send a reset.
 */
void msd_http_conn_linger(struct msd_http_conn *v);
/** Data or the end of the stream has arrived: discard it. */
void msd_http_conn_read_nothing(struct msd_http_conn *v);
/** Report its connection's state; see msd_frontend_ops.look. */
void msd_http_conn_look(struct msd_session *s, struct msd_frontend_look *ret);

#endif
