#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/method.h"

struct msd_req *msd_method_later(struct msd_method_call *c)
{
	struct msd_req *r =
		msd_req_new_waiting(&c->session->client, c->in->body.id, c->method);

	if (r == NULL)
		return NULL;
	c->later = true;
	if (c->options.has_deadline) {
		msd_req_set_due_from(r, c->session->edge->deadlines, c->in->begun_ms,
				     c->options.deadline_ms);
	}
	return r;
}
