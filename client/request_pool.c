#include "client/request_pool.h"

struct msd_ticket *msd_request_pool_pop(struct msd_request_pool *s)
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

void msd_request_pool_push(struct msd_request_pool *s, struct msd_ticket *t)
{
	const size_t bytes = msd_ticket_bytes(t);

	if (s->n == MSD_REQUEST_POOL || bytes > MSD_FREE_LIST_TICKET_BYTES ||
	    bytes > MSD_REQUEST_POOL_BYTES - s->bytes) {
		msd_ticket_destroy(t);
		return;
	}
	msd_ticket_empty(t);
	t->next = s->first;
	s->first = t;
	s->n++;
	s->bytes += bytes;
}

void msd_request_pool_finish(struct msd_request_pool *s)
{
	while (s->first != NULL)
		msd_ticket_destroy(msd_request_pool_pop(s));
}
