#include "daemon/supervisor/request/call_template.h"

#include <string.h>

void msd_call_template_follow(struct msd_req *r, struct msd_known *known)
{
	const struct msd_call_template *plan = known->plan;

	known->n_users++;
	r->job.known = known;
	r->job.device = plan->device;
	r->due.is_clients = plan->has_deadline;
	r->due.in_ms = plan->deadline_ms;
	r->due.is_at_leave = plan->kills_at_leave;
	r->at.is_unordered = plan->is_unordered;
	r->at.is_background = plan->is_background;
	r->at.function = plan->function;
}

/* @params is a copy of the parameters of @r's call template. */
static void point_inlines(const struct msd_req *r, uint8_t *params)
{
	const struct msd_call_template *plan = r->job.known->plan;

	if (r->placement.pool == NULL)
		return;
	for (uint32_t i = 0; i < plan->n_inlines; i++) {
		msd_placement_point(&r->placement, params + plan->inlines[i].at,
				    plan->inlines[i].offset);
	}
}

void msd_call_template_write(const struct msd_req *r, bool has_tail,
			     struct msd_buf *body)
{
	const struct msd_span params = r->job.known->body.params;

	msd_body_begin_request(body, r->at.wid, msd_method_row(r->method)->name,
			       has_tail);
	msd_buf_put(body, params.p, params.n);
	if (!body->bad)
		point_inlines(r, body->p + body->n - params.n);
}

void msd_call_template_copy(const struct msd_req *r, uint8_t *body)
{
	const struct msd_known *known = r->job.known;

	memcpy(body, known->bytes, known->n_bytes);
	msd_memory_set_id(body, r->at.wid);
	point_inlines(r, body + (known->body.params.p - known->bytes));
}
