#ifndef MSD_SUPERVISOR_ROUTE_MATCH_H
#define MSD_SUPERVISOR_ROUTE_MATCH_H
/* The route of a request: its path in segments, and the matching row of the route
 * table (route.c). A request with the same head as the last one reuses it. */
#include "daemon/http/target.h"
#include "daemon/supervisor/http/exchange.h"

struct msd_route;

struct msd_route_match {
	struct msd_http_path path;
	struct msd_span names[MSD_HTTP_EXCHANGE_NAMES]; /* in the path, as
							   msd_http_exchange.names */
	const struct msd_route *route;                  /* NULL: no match */
	bool is_path;                                   /* the path is valid */
	bool may_move;   /* its host name may resolve to any address: site.h */
	bool has_method; /* the row supports the method */
};

#endif
