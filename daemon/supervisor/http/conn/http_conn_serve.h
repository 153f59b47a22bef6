#ifndef MSD_SUPERVISOR_HTTP_CONN_SERVE_H
#define MSD_SUPERVISOR_HTTP_CONN_SERVE_H
/* The requests of an HTTP connection, and their replies, which are appended to its
 * `out`. */
#include "daemon/supervisor/http/conn/http_conn_state.h"
#include "proto/base/bytes.h"

/** Serve @in within its share of the loop iteration; the unserved rest stays in @in. */
void msd_http_conn_serve(struct msd_http_conn *v, struct msd_span *in);
/** The deferred reply is ready. */
void msd_http_conn_answer_later(struct msd_http_conn *v);
/** The call of its request has taken the available part of the body. */
void msd_http_conn_settle_body(struct msd_http_conn *v);

#endif
