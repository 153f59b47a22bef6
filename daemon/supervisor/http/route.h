#ifndef MSD_SUPERVISOR_ROUTE_H
#define MSD_SUPERVISOR_ROUTE_H
/* What is asked for by which path, and what right that needs: one table, in route.c. A
 * new path is a row, and the function that it names. */
#include "daemon/supervisor/http/asking.h"

/** Append the answer to @a's request to @out, unless it comes later; @closes: nothing
 * follows. */
void msd_route_answer(struct msd_asking *a, bool closes, struct msd_buf *out);
/** Append the answer that has come later. */
void msd_route_write(struct msd_asking *a, bool closes, struct msd_buf *out);
/** Append that what came is none, and that it ends. */
void msd_route_refuse(struct msd_asking *a, unsigned status, const char *why,
		      struct msd_buf *out);

#endif
