/*
 * Happy path: assign the call to the row of its function and time its stages. When
 * its client has the answer, count and record the call. If the answer is still being
 * built, keep all data but its end. Failures: without memory the call counts as done.
 */
#include "daemon/supervisor/module/stats/call_accounting.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/limits.h"
#include "daemon/supervisor/module/stats/call_stats.h"
#include "daemon/supervisor/module/stats/probe.h"
#include "daemon/supervisor/request/call_template.h"
#include "proto/base/clock.h"
#include "proto/name.h"
#include "proto/value.h"

static bool is_known(const struct msd_worker_group *group, struct msd_span function)
{
	return function.n > 0 && msd_facts_are_known(&group->facts) &&
	       msd_facts_function(&group->facts, function) != NULL;
}

/* Create a row only for functions that the module is known to have: names are input
 * of clients. */
void msd_call_accounting_begin(struct msd_req *r, const struct msd_worker_group *group,
			       struct msd_span function)
{
	r->at.function = msd_call_stats_find(group->call_stats, function);
	if (r->at.function == MSD_CALL_STATS_OTHER &&
	    msd_call_stats_has_room(group->call_stats) && is_known(group, function))
		r->at.function = msd_call_stats_add(group->call_stats, function);
	msd_call_accounting_again(r, group);
}

bool msd_call_accounting_is_settled(const struct msd_req *r,
				    const struct msd_worker_group *group)
{
	return r->at.function != MSD_CALL_STATS_OTHER ||
	       !msd_call_stats_has_room(group->call_stats);
}

/* The first parameter is the target; a long one may have been freed. */
static struct msd_span function_of(const struct msd_req *r)
{
	const struct msd_span params = msd_call_template_params(r);
	struct msd_cur c = msd_cur_of(params);
	struct msd_span module, function = {0};
	struct msd_wire_value v;

	if (params.n == 0 || msd_value_read(&c, &v, NULL) != MSD_OK ||
	    v.kind != MSD_K_TUPLE || v.as.tuple.n == 0)
		return function;
	c = msd_cur_of(v.as.tuple.items);
	if (msd_value_read(&c, &v, NULL) != MSD_OK || v.kind != MSD_K_STR ||
	    !msd_target_split(v.as.str, &module, &function))
		return (struct msd_span){0};
	return function;
}

/* The module was not yet described when the call arrived, or its description lacks
 * the function. A successful call proves that the function exists. */
static uint8_t late_row(const struct msd_req *r, const struct msd_worker_group *group)
{
	const struct msd_span function = function_of(r);

	if (function.n == 0 || (r->client.code != MSD_OK && !is_known(group, function)))
		return MSD_CALL_STATS_OTHER;
	return msd_call_stats_add(group->call_stats, function);
}

/* Store where the time of @r went, up to @now. */
static void fill(struct msd_logged_call *past, const struct msd_req *r, uint8_t row,
		 uint64_t now)
{
	past->end_ns = now;
	past->who = r->client.who->peer;
	past->row = row;
	past->code = r->client.code;
	memcpy(past->spent_ns, r->at.spent_ns, sizeof(past->spent_ns));
	past->spent_ns[r->at.stage] += now - r->at.since_ns;
}

static bool is_slow(const struct msd_module_registry *registry, uint64_t all_ns)
{
	const uint64_t slow_ns = registry->limits->slow_call_ms * MSD_NS_PER_MS;

	return slow_ns > 0 && all_ns >= slow_ns;
}

/* Few calls qualify; the rest needs no further check. */
static bool others_want(const struct msd_module_registry *registry, uint64_t all_ns)
{
	return MSD_PROBE_IS_ON(call__done) || is_slow(registry, all_ns);
}

/* @past is recorded: pass it to the tracer and the slow log. */
static void tell_others(struct msd_module_registry *registry,
			const struct msd_logged_call *past, uint64_t all_ns,
			struct msd_span params)
{
	if (MSD_PROBE_IS_ON(call__done)) {
		msd_probe_call_done(past->call_stats->name, msd_logged_function(past),
				    past->code, all_ns);
	}
	if (is_slow(registry, all_ns))
		msd_call_log_add_slow(&registry->slow_log, past, params);
}

static void record(const struct msd_req *r, const struct msd_worker_group *group,
		   uint8_t row)
{
	struct msd_module_registry *registry = group->registry;
	struct msd_logged_call *past = msd_call_log_next(
		&registry->call_log, registry->deadlines, group->call_stats);

	if (past == NULL)
		return;
	fill(past, r, row, msd_wire_now_ns(registry->wire));
	const uint64_t all_ns = past->end_ns - r->at.began_ns;
	msd_call_stats_spend(group->call_stats, row, past->code, past->spent_ns);
	if (others_want(registry, all_ns))
		tell_others(registry, past, all_ns, msd_call_template_params(r));
}

static uint8_t row_of(const struct msd_req *r, const struct msd_worker_group *group)
{
	return r->at.function == MSD_CALL_STATS_OTHER &&
			       msd_call_stats_has_room(group->call_stats)
		       ? late_row(r, group)
		       : r->at.function;
}

void msd_call_accounting_end(const struct msd_req *r,
			     const struct msd_worker_group *group)
{
	if (r->client.is_put_off || group->registry->leaves_calls_uncounted)
		return;
	const uint8_t row = row_of(r, group);
	msd_call_stats_note(group->call_stats, row, r->client.code);
	if (r->at.since_ns != 0)
		record(r, group, row);
}

void msd_call_accounting_refused(const struct msd_worker_group *group,
				 struct msd_span function, const struct msd_client *who,
				 msd_err err)
{
	struct msd_module_registry *registry = group->registry;
	const uint8_t row = is_known(group, function)
				    ? msd_call_stats_add(group->call_stats, function)
				    : MSD_CALL_STATS_OTHER;
	struct msd_logged_call *past = msd_call_log_next(
		&registry->call_log, registry->deadlines, group->call_stats);

	msd_call_stats_note(group->call_stats, row, err);
	if (past == NULL)
		return;
	*past = (struct msd_logged_call){.end_ns = msd_wire_now_ns(registry->wire),
					 .who = who->peer,
					 .call_stats = past->call_stats,
					 .row = row,
					 .code = (uint8_t)err};
	tell_others(registry, past, 0, (struct msd_span){0});
}

/* The data of a call except its end. */
struct msd_put_off {
	struct msd_module_registry *registry;
	struct msd_logged_call call; /* with a reference to its call statistics */
	uint64_t all_ns;
	struct msd_buf params;
};

struct msd_put_off *msd_call_accounting_put_off(struct msd_req *r,
						const struct msd_worker_group *group)
{
	const struct msd_span params = msd_call_template_params(r);
	struct msd_put_off *p = r->at.since_ns != 0 ? calloc(1, sizeof(*p)) : NULL;

	if (p == NULL)
		return NULL;
	p->registry = group->registry;
	p->call.call_stats = msd_call_stats_ref(group->call_stats);
	fill(&p->call, r, row_of(r, group), msd_wire_now_ns(group->registry->wire));
	p->all_ns = p->call.end_ns - r->at.began_ns;
	msd_buf_put(&p->params, params.p, params.n);
	r->client.is_put_off = true;
	return p;
}

void msd_call_accounting_tell(struct msd_put_off *p, unsigned code)
{
	if (p == NULL)
		return;
	struct msd_module_registry *registry = p->registry;
	struct msd_call_stats *call_stats = p->call.call_stats;
	struct msd_logged_call *past =
		msd_call_log_next(&registry->call_log, registry->deadlines, call_stats);

	msd_call_stats_note(call_stats, p->call.row, code);
	msd_call_stats_spend(call_stats, p->call.row, code, p->call.spent_ns);
	p->call.code = (uint8_t)code;
	if (past != NULL) {
		*past = p->call; /* the call log has a reference of its own */
		tell_others(registry, past, p->all_ns,
			    (struct msd_span){p->params.p,
					      p->params.bad ? 0 : p->params.n});
	}
	msd_call_stats_unref(call_stats);
	msd_buf_finish(&p->params);
	free(p);
}
