#ifndef MSD_SUPERVISOR_HTTP_CONN_BODY_H
#define MSD_SUPERVISOR_HTTP_CONN_BODY_H
/* The size limit of a request's body, and whether its first part is parsed before the
 * rest arrives. */
#include "daemon/supervisor/http/conn/http_conn_state.h"

/** The reader has parsed a head: set the limit of its body. */
void msd_http_conn_bound_body(struct msd_http_conn *v);
/** Write to @ret why the body is rejected: the limit, and how to send more. */
void msd_http_conn_say_bound(const struct msd_http_conn *v, char *ret, size_t n);

#endif
