#include "daemon/supervisor/edge/session/call_cache.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/stats/call_accounting.h"
#include "daemon/supervisor/request/call_template.h"

#define MAX_INLINES 16u /* with more tensors, parsing is a small part of the call */

bool msd_call_cache_knows(const struct msd_session *s, const struct msd_in *in)
{
	const struct msd_call_template *plan =
		in->known != NULL ? in->known->plan : NULL;

	return plan != NULL && plan->generation == s->edge->registry->generation;
}

/* Calls with argument names, measurements, traces or futures are rare, and handles must
 * be looked up each time: no template. */
static bool may_have_plan(const struct msd_in *in, const struct msd_req *r,
			  const struct msd_request_options *o)
{
	return r->method == MSD_M_CALL && in->body.n_handles == 0 &&
	       in->body.n_objects == 0 && in->body.n_results == 0 && o->names.n == 0 &&
	       o->repeat.n == 0 && !o->is_traced && !o->is_promised &&
	       msd_call_accounting_is_settled(r, &r->module->group);
}

/* Set the fields that the body does not contain. */
static void settle(struct msd_call_template *plan, const struct msd_session *s,
		   const struct msd_req *r)
{
	plan->generation = s->edge->registry->generation;
	plan->module = r->module;
	plan->function = r->at.function;
}

void msd_call_cache_call(struct msd_session *s, const struct msd_in *in,
			 const struct msd_req *r, const struct msd_request_options *o,
			 uint64_t out_bytes)
{
	const size_t n_inlines = s->inlines.n / sizeof(struct msd_inline);

	if (!s->has_plans || n_inlines > MAX_INLINES || !may_have_plan(in, r, o))
		return;
	if (in->known != NULL) {
		settle(in->known->plan, s, r);
		return;
	}
	struct msd_known *known =
		msd_memory_add(&s->calls, (struct msd_span){in->bytes, in->n_bytes},
			       in->payload_bytes, &in->body);
	if (known == NULL)
		return;
	const size_t n = sizeof(struct msd_call_template) + s->inlines.n;
	struct msd_call_template *plan = malloc(n);
	if (plan == NULL) {
		msd_memory_drop(&s->calls, known);
		return;
	}
	*plan = (struct msd_call_template){.has_deadline = o->has_deadline,
					   .is_unordered = o->is_unordered,
					   .is_background = o->is_background,
					   .kills_at_leave = o->kills_at_leave,
					   .deadline_ms = o->deadline_ms,
					   .device = o->device,
					   .out_bytes = out_bytes,
					   .n_inlines = (uint32_t)n_inlines};
	if (n_inlines > 0)
		memcpy(plan->inlines, s->inlines.p, s->inlines.n);
	settle(plan, s, r);
	msd_memory_give(&s->calls, known, plan, n);
}
