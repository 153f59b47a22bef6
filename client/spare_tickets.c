#include "client/spare_tickets.h"

struct msd_ticket *msd_spare_tickets_take(struct msd_spare_tickets *s)
{
	struct msd_ticket *t = s->first;

	if (t == NULL)
		return msd_ticket_create();
	s->first = t->next;
	t->next = NULL;
	s->n--;
	s->bytes -= msd_ticket_bytes(t);
	return t;
}

void msd_spare_tickets_give(struct msd_spare_tickets *s, struct msd_ticket *t)
{
	const size_t bytes = msd_ticket_bytes(t);

	if (s->n == MSD_SPARE_TICKETS || bytes > MSD_SPARE_TICKET_BYTES ||
	    bytes > MSD_SPARE_TICKETS_BYTES - s->bytes) {
		msd_ticket_destroy(t);
		return;
	}
	msd_ticket_empty(t);
	t->next = s->first;
	s->first = t;
	s->n++;
	s->bytes += bytes;
}

void msd_spare_tickets_finish(struct msd_spare_tickets *s)
{
	while (s->first != NULL)
		msd_ticket_destroy(msd_spare_tickets_take(s));
}
