#ifndef MSD_SUPERVISOR_COURSE_H
#define MSD_SUPERVISOR_COURSE_H
/* Where the request of a connection leads: its path, cut, and the row of the table of
 * paths (route.c) that has it. A request whose head has come again takes the same
 * course.
 */
#include "daemon/http/path.h"
#include "daemon/supervisor/http/asking.h"

struct msd_route;

struct msd_course {
	struct msd_http_path path;
	struct msd_span names[MSD_ASKING_NAMES]; /* in it, as msd_asking.names */
	const struct msd_route *route;           /* NULL: nothing is there */
	bool is_path;                            /* it could be cut */
	bool may_move;   /* its host is a name that can lead anywhere: site.h */
	bool has_method; /* the row is asked for by its own */
};

#endif
