#ifndef MSD_SUPERVISOR_ROUTE_H
#define MSD_SUPERVISOR_ROUTE_H
/* The route table, in route.c: paths, their handlers and the required rights. To add
 * a path, add a row and its handler. */
#include "daemon/supervisor/http/exchange.h"

/**
 * Append the reply to @a's request to @out, unless it follows later; @closes: the
 * connection closes after it.
 */
void msd_route_answer(struct msd_http_exchange *a, bool closes, struct msd_buf *out);
/** Append the deferred reply. */
void msd_route_write(struct msd_http_exchange *a, bool closes, struct msd_buf *out);
/** Append an error reply to an invalid request; the connection closes after it. */
void msd_route_refuse(struct msd_http_exchange *a, unsigned status, const char *why,
		      struct msd_buf *out);

#endif
