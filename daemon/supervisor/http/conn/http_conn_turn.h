#ifndef MSD_SUPERVISOR_HTTP_CONN_TURN_H
#define MSD_SUPERVISOR_HTTP_CONN_TURN_H
/* The scheduling of an HTTP connection: its requests are read and answered within its
 * share of each loop iteration. */
#include "daemon/supervisor/http/conn/http_conn_state.h"

/** Make it schedulable with the other connections of its loop, until it is closed. */
void msd_http_conn_schedule(struct msd_http_conn *v);
/** Serve it now as in its slot, without waiting for an event. */
void msd_http_conn_serve_now(struct msd_http_conn *v);
/** Charge its memory to its account, and wait for its next event. */
void msd_http_conn_settle(struct msd_http_conn *v);
/** The deferred reply to the request of @c is ready. */
void msd_http_conn_answered(struct msd_http_session *c);
/** The call of its request has room for its remaining inputs. */
void msd_http_conn_placed(struct msd_http_conn *v);

#endif
