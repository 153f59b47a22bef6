/*
 * Happy path: assign the call to the row of its function and time its stages. When
 * its client has the answer, count and record the call. If the answer is still being
 * built, keep all data but its end. Failures: without memory the call counts as done.
 */
#include "daemon/supervisor/module/counted.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/limits.h"
#include "daemon/supervisor/module/probe.h"
#include "daemon/supervisor/module/tally.h"
#include "daemon/supervisor/request/job_plan.h"
#include "proto/clock.h"
#include "proto/name.h"
#include "proto/value.h"

static bool is_known(const struct msd_crew *crew, struct msd_span function)
{
	return function.n > 0 && msd_facts_are_known(&crew->facts) &&
	       msd_facts_have_function(&crew->facts, function);
}

/* Create a row only for functions that the module is known to have: names are input
 * of clients. */
void msd_counted_begin(struct msd_req *r, const struct msd_crew *crew,
		       struct msd_span function)
{
	r->at.function = msd_tally_find(crew->tally, function);
	if (r->at.function == MSD_TALLY_OTHER && msd_tally_has_room(crew->tally) &&
	    is_known(crew, function))
		r->at.function = msd_tally_add(crew->tally, function);
	msd_counted_again(r, crew);
}

bool msd_counted_is_settled(const struct msd_req *r, const struct msd_crew *crew)
{
	return r->at.function != MSD_TALLY_OTHER || !msd_tally_has_room(crew->tally);
}

/* The first parameter is the target; a long one may have been freed. */
static struct msd_span function_of(const struct msd_req *r)
{
	const struct msd_span params = msd_job_plan_params(r);
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
static uint8_t late_row(const struct msd_req *r, const struct msd_crew *crew)
{
	const struct msd_span function = function_of(r);

	if (function.n == 0 || (r->client.code != MSD_OK && !is_known(crew, function)))
		return MSD_TALLY_OTHER;
	return msd_tally_add(crew->tally, function);
}

/* Store where the time of @r went, up to @now. */
static void fill(struct msd_past_call *past, const struct msd_req *r, uint8_t row,
		 uint64_t now)
{
	past->end_ns = now;
	past->who = r->client.who->peer;
	past->row = row;
	past->code = r->client.code;
	memcpy(past->spent_ns, r->at.spent_ns, sizeof(past->spent_ns));
	past->spent_ns[r->at.stage] += now - r->at.since_ns;
}

static bool is_slow(const struct msd_house *house, uint64_t all_ns)
{
	const uint64_t slow_ns = house->limits->slow_call_ms * MSD_NS_PER_MS;

	return slow_ns > 0 && all_ns >= slow_ns;
}

/* Few calls qualify; the rest needs no further check. */
static bool others_want(const struct msd_house *house, uint64_t all_ns)
{
	return MSD_PROBE_IS_ON(call__done) || is_slow(house, all_ns);
}

/* @past is recorded: pass it to the tracer and the slow log. */
static void tell_others(struct msd_house *house, const struct msd_past_call *past,
			uint64_t all_ns, struct msd_span params)
{
	if (MSD_PROBE_IS_ON(call__done)) {
		msd_probe_call_done(past->tally->name, msd_past_function(past),
				    past->code, all_ns);
	}
	if (is_slow(house, all_ns))
		msd_slowlog_note(&house->slowlog, past, params);
}

static void record(const struct msd_req *r, const struct msd_crew *crew, uint8_t row)
{
	struct msd_house *house = crew->house;
	struct msd_past_call *past =
		msd_recorder_next(&house->recorder, house->deadlines, crew->tally);

	if (past == NULL)
		return;
	fill(past, r, row, msd_wire_now_ns(house->wire));
	const uint64_t all_ns = past->end_ns - r->at.began_ns;
	msd_tally_spend(crew->tally, row, past->code, past->spent_ns);
	if (others_want(house, all_ns))
		tell_others(house, past, all_ns, msd_job_plan_params(r));
}

static uint8_t row_of(const struct msd_req *r, const struct msd_crew *crew)
{
	return r->at.function == MSD_TALLY_OTHER && msd_tally_has_room(crew->tally)
		       ? late_row(r, crew)
		       : r->at.function;
}

void msd_counted_end(const struct msd_req *r, const struct msd_crew *crew)
{
	if (r->client.is_put_off || crew->house->leaves_calls_uncounted)
		return;
	const uint8_t row = row_of(r, crew);
	msd_tally_note(crew->tally, row, r->client.code);
	if (r->at.since_ns != 0)
		record(r, crew, row);
}

void msd_counted_refused(const struct msd_crew *crew, struct msd_span function,
			 const struct msd_client *who, msd_err err)
{
	struct msd_house *house = crew->house;
	const uint8_t row = is_known(crew, function)
				    ? msd_tally_add(crew->tally, function)
				    : MSD_TALLY_OTHER;
	struct msd_past_call *past =
		msd_recorder_next(&house->recorder, house->deadlines, crew->tally);

	msd_tally_note(crew->tally, row, err);
	if (past == NULL)
		return;
	*past = (struct msd_past_call){.end_ns = msd_wire_now_ns(house->wire),
				       .who = who->peer,
				       .tally = past->tally,
				       .row = row,
				       .code = (uint8_t)err};
	tell_others(house, past, 0, (struct msd_span){0});
}

/* The data of a call except its end. */
struct msd_put_off {
	struct msd_house *house;
	struct msd_past_call call; /* with a reference to its call statistics */
	uint64_t all_ns;
	struct msd_buf params;
};

struct msd_put_off *msd_counted_put_off(struct msd_req *r, const struct msd_crew *crew)
{
	const struct msd_span params = msd_job_plan_params(r);
	struct msd_put_off *p = r->at.since_ns != 0 ? calloc(1, sizeof(*p)) : NULL;

	if (p == NULL)
		return NULL;
	p->house = crew->house;
	p->call.tally = msd_tally_ref(crew->tally);
	fill(&p->call, r, row_of(r, crew), msd_wire_now_ns(crew->house->wire));
	p->all_ns = p->call.end_ns - r->at.began_ns;
	msd_buf_put(&p->params, params.p, params.n);
	r->client.is_put_off = true;
	return p;
}

void msd_counted_tell(struct msd_put_off *p, unsigned code)
{
	if (p == NULL)
		return;
	struct msd_house *house = p->house;
	struct msd_tally *tally = p->call.tally;
	struct msd_past_call *past =
		msd_recorder_next(&house->recorder, house->deadlines, tally);

	msd_tally_note(tally, p->call.row, code);
	msd_tally_spend(tally, p->call.row, code, p->call.spent_ns);
	p->call.code = (uint8_t)code;
	if (past != NULL) {
		*past = p->call; /* the call log has a reference of its own */
		tell_others(house, past, p->all_ns,
			    (struct msd_span){p->params.p,
					      p->params.bad ? 0 : p->params.n});
	}
	msd_tally_unref(tally);
	msd_buf_finish(&p->params);
	free(p);
}
