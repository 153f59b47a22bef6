#ifndef MSD_CLIENT_SPARE_TICKETS_H
#define MSD_CLIENT_SPARE_TICKETS_H
/* Pool of finished tickets, with their memory, for the next requests. A call like the
 * last one allocates nothing. docs/bounds.md gives the limits. */
#include "client/ticket.h"

#define MSD_SPARE_TICKETS 128u
#define MSD_SPARE_TICKET_BYTES 4096u   /* buffer bytes kept for one ticket */
#define MSD_SPARE_TICKETS_BYTES 65536u /* buffer bytes of all tickets in the pool */

/* All zeros: empty. */
struct msd_spare_tickets {
	struct msd_ticket *first; /* owned, a linked list */
	unsigned n;
	size_t bytes; /* bytes of their buffers */
};

/** An empty ticket; NULL: out of memory. */
struct msd_ticket *msd_spare_tickets_take(struct msd_spare_tickets *s);
/** @t is finished: keep it if there is room, else free it. */
void msd_spare_tickets_give(struct msd_spare_tickets *s, struct msd_ticket *t);
void msd_spare_tickets_finish(struct msd_spare_tickets *s);

#endif
