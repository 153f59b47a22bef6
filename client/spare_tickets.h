#ifndef MSD_CLIENT_SPARE_TICKETS_H
#define MSD_CLIENT_SPARE_TICKETS_H
/*
 * Tickets that are over, for the next requests, with the memory that they had: a call
 * like the last one asks for none. docs/bounds.md says how much is kept.
 */
#include "client/ticket.h"

#define MSD_SPARE_TICKETS 128u
#define MSD_SPARE_TICKET_BYTES 4096u   /* of buffers that one has; more is freed */
#define MSD_SPARE_TICKETS_BYTES 65536u /* of those of all */

/* All zeros: there are none. */
struct msd_spare_tickets {
	struct msd_ticket *first; /* owned, the others behind it */
	unsigned n;
	size_t bytes; /* of their buffers */
};

/** An empty ticket; NULL: out of memory. */
struct msd_ticket *msd_spare_tickets_take(struct msd_spare_tickets *s);
/** @t is over, and kept where there is room. */
void msd_spare_tickets_give(struct msd_spare_tickets *s, struct msd_ticket *t);
void msd_spare_tickets_finish(struct msd_spare_tickets *s);

#endif
