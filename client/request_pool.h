#ifndef MSD_CLIENT_REQUEST_POOL_H
#define MSD_CLIENT_REQUEST_POOL_H
/* Pool of finished tickets, with their memory, for the next requests. A call like the
 * last one allocates nothing. docs/internals/bounds.md gives the limits. */
#include "client/ticket.h"

#define MSD_REQUEST_POOL 128u
#define MSD_FREE_LIST_TICKET_BYTES 4096u /* buffer bytes kept for one ticket */
#define MSD_REQUEST_POOL_BYTES 65536u    /* buffer bytes of all tickets in the pool */

/* All zeros: empty. */
struct msd_request_pool {
	struct msd_ticket *first; /* owned, a linked list */
	unsigned n;
	size_t bytes; /* bytes of their buffers */
};

/** An empty ticket; NULL: out of memory. */
struct msd_ticket *msd_request_pool_pop(struct msd_request_pool *s);
/** @t is finished: keep it if there is room, else free it. */
void msd_request_pool_push(struct msd_request_pool *s, struct msd_ticket *t);
void msd_request_pool_finish(struct msd_request_pool *s);

#endif
