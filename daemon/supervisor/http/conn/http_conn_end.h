#ifndef MSD_SUPERVISOR_HTTP_CONN_END_H
#define MSD_SUPERVISOR_HTTP_CONN_END_H
/* The memory accounting of an HTTP connection, and its end. */
#include "daemon/supervisor/http/conn/http_conn_state.h"

/** Charge its memory to its peer. */
void msd_http_conn_charge(struct msd_http_conn *v);
/** Close it now; it is freed in a later loop iteration. Idempotent. */
void msd_http_conn_close(struct msd_http_conn *v, const char *why);
/** Free it; it must be closed, and no thread may use its data. */
void msd_http_conn_destroy(struct msd_http_conn *v);

#endif
