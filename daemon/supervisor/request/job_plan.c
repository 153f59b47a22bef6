#include "daemon/supervisor/request/job_plan.h"

void msd_job_plan_follow(struct msd_req *r, struct msd_known *known)
{
	const struct msd_job_plan *plan = known->plan;

	known->n_users++;
	r->job.known = known;
	r->job.device = plan->device;
	r->due.is_clients = plan->has_deadline;
	r->due.in_ms = plan->deadline_ms;
	r->due.is_at_leave = plan->kills_at_leave;
	r->at.is_unordered = plan->is_unordered;
	r->at.function = plan->function;
}

/* What a worker gets is what the client has sent, where that had no options and gets
 * none. */
static size_t put_body(const struct msd_req *r, bool has_tail, struct msd_buf *body)
{
	const struct msd_known *known = r->job.known;
	const struct msd_span params = known->body.params;
	const size_t begin = body->n;

	if (has_tail || known->body.options.n > 0) {
		msd_body_begin_request(body, r->at.wid, msd_method_row(r->method)->name,
				       has_tail);
		msd_buf_put(body, params.p, params.n);
		return body->n - params.n;
	}
	msd_buf_put(body, known->bytes, known->n_bytes);
	if (!body->bad)
		msd_memory_set_id(body->p + begin, r->at.wid);
	return begin + (size_t)(params.p - known->bytes);
}

void msd_job_plan_write(const struct msd_req *r, bool has_tail, struct msd_buf *body)
{
	const struct msd_job_plan *plan = r->job.known->plan;
	const size_t params = put_body(r, has_tail, body);

	if (body->bad || r->placement.pool == NULL)
		return;
	for (uint32_t i = 0; i < plan->n_inlines; i++) {
		msd_placement_point(&r->placement,
				    body->p + params + plan->inlines[i].at,
				    plan->inlines[i].offset);
	}
}
