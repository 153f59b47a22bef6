/*
 * The methods that report single calls: server.monitor and server.slowlog.
 *
 * Happy path: the client gives the number to start from and gets the calls since
 * then, at most 512. If no call exists, the request waits in the list of the call
 * log. Calls that arrive within 20 ms are sent in one reply. Failures: on a timeout
 * the reply is empty. Calls that the call log has dropped are missing, which `from`
 * shows.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/stats/call_stats.h"
#include "proto/base/clock.h"
#include "proto/limits.h"
#include "proto/unpack.h"

#define MOST_WAIT_MS 3600000u
#define MOST_RECORDS 512u
#define TIME_BYTES 40u

/* The filter of a monitor request. Stored in its params, because no worker gets it. */
struct wish {
	uint64_t from, every;
	char module[MSD_MAX_NAME_BYTES + 1]; /* empty: all */
};

/* Format @ns of the wire's clock as date and time in UTC. */
static const char *put_time(const struct msd_module_registry *registry, uint64_t ns,
			    char ret[TIME_BYTES])
{
	const uint64_t ago_ns = msd_wire_now_ns(registry->wire) - ns;
	struct timespec now;
	struct tm tm;
	char day[TIME_BYTES];

	(void)clock_gettime(CLOCK_REALTIME, &now);
	const uint64_t at_ns =
		(uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - ago_ns;
	const time_t s = (time_t)(at_ns / 1000000000u);
	if (gmtime_r(&s, &tm) == NULL ||
	    strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		day[0] = '\0';
	(void)snprintf(ret, TIME_BYTES, "%.19s.%03uZ", day,
		       (unsigned)(at_ns / MSD_NS_PER_MS % 1000u));
	return ret;
}

static void put_record(struct msd_buf *b, const struct msd_module_registry *registry,
		       const struct msd_call_slot *slot, bool is_slow)
{
	const struct msd_logged_call *r = &slot->call;
	char at[TIME_BYTES], who[MSD_PEER_TEXT_BYTES];

	msd_pack_map(b, is_slow ? 12 : 11);
	msd_pack_pair_uint(b, "number", slot->number);
	msd_pack_pair_str(b, "at", put_time(registry, r->end_ns, at));
	msd_pack_pair_str(b, "module", r->call_stats->name);
	msd_pack_pair_str(b, "function", msd_logged_function(r));
	msd_pack_pair_str(b, "code", msd_call_stats_code_name(r->code));
	msd_pack_pair_str(b, "peer", msd_peer_id_text(r->who, who));
	msd_pack_pair_uint(b, "all_ns", msd_logged_total_ns(r));
	msd_pack_pair_uint(b, "read_ns", r->spent_ns[MSD_STAGE_READ]);
	msd_pack_pair_uint(b, "queue_ns", r->spent_ns[MSD_STAGE_QUEUE]);
	msd_pack_pair_uint(b, "worker_ns", r->spent_ns[MSD_STAGE_WORKER]);
	msd_pack_pair_uint(b, "run_ns", r->spent_ns[MSD_STAGE_RUN]);
	if (is_slow) {
		msd_pack_pair_str(b, "arguments",
				  slot->arguments != NULL ? slot->arguments : "");
	}
}

static bool is_of_module(const struct wish *w, const struct msd_call_slot *slot)
{
	return w->module[0] == '\0' ||
	       strcmp(w->module, slot->call.call_stats->name) == 0;
}

/* Append the reply. Returns the number of calls; @w continues after them. */
static uint32_t put_answer(struct wish *w, const struct msd_module_registry *registry,
			   struct msd_buf *b)
{
	const struct msd_call_log *rec = &registry->call_log;
	const struct msd_call_slot *slot = msd_call_log_find(rec, w->from);
	const struct msd_call_slot *found[MOST_RECORDS];
	uint64_t n_kept = 0, dropped_end = 0;
	uint32_t n = 0;

	for (; slot != NULL && n < MOST_RECORDS; slot = msd_call_log_after(rec, slot)) {
		n_kept++;
		if (!is_of_module(w, slot))
			continue;
		dropped_end = slot->call.call_stats->lanes[MSD_ALL_CALLS].dropped_end;
		if (slot->number % w->every == 0)
			found[n++] = slot;
	}
	const uint64_t next = slot != NULL ? slot->number : rec->total;
	uint64_t begin = w->from > dropped_end ? w->from : dropped_end;
	if (begin > next)
		begin = next;
	if (w->module[0] == '\0')
		begin = next - n_kept; /* so that it tells how many are lost */
	msd_pack_map(b, 3);
	msd_pack_cstr(b, "requests");
	msd_pack_array(b, n);
	for (uint32_t i = 0; i < n; i++)
		put_record(b, registry, found[i], false);
	msd_pack_pair_uint(b, "from", begin);
	msd_pack_pair_uint(b, "next", next);
	w->from = next;
	return n;
}

/* Reply to @r. False: no call matches, and it still waits. */
static bool answer(struct msd_req *r, const struct msd_module_registry *registry,
		   bool is_late)
{
	struct wish w;
	struct msd_buf b = {0};

	memcpy(&w, r->job.params.p, sizeof(w));
	const uint32_t n = put_answer(&w, registry, &b);
	memcpy(r->job.params.p, &w, sizeof(w));
	if (n > 0 || is_late) {
		msd_req_answer(r, &b);
		msd_req_release(r);
	}
	msd_buf_finish(&b);
	return n > 0 || is_late;
}

static void on_waited(struct msd_deadline *node)
{
	struct msd_req *r = MSD_CONTAINER_OF(node, struct msd_req, due.node);

	if (!msd_req_lost_right(r))
		(void)answer(r, msd_session_of(r)->edge->registry, true);
}

/* The new calls may not match the filter. */
static void tell(struct msd_waiters *f, struct msd_req *r)
{
	if (!answer(r, msd_session_of(r)->edge->registry, false))
		msd_waiters_wait(f, r);
}

static void on_batch(struct msd_deadline *node)
{
	struct msd_call_log *rec = MSD_CONTAINER_OF(node, struct msd_call_log, batch);

	msd_waiters_tell(&rec->followers);
}

static msd_err follow(struct msd_method_call *c, const struct wish *w, uint64_t wait_ms,
		      struct msd_diag *d)
{
	struct msd_edge *e = c->session->edge;
	struct msd_call_log *rec = &e->registry->call_log;
	struct msd_req *r =
		msd_req_new_waiting(&c->session->client, c->in->body.id, c->method);

	if (r == NULL)
		return msd_diag_no_memory(d);
	msd_buf_put(&r->job.params, w, sizeof(*w));
	if (r->job.params.bad) {
		msd_req_release(r);
		return msd_diag_no_memory(d);
	}
	c->later = true;
	msd_req_hold(r, r->job.params.cap);
	rec->batch.on_due = on_batch;
	rec->followers.tasks = e->deadlines->tasks;
	rec->followers.tell = tell;
	r->due.node.on_due = on_waited; /* the request has no other deadline */
	msd_req_set_due(r, e->deadlines, wait_ms);
	msd_waiters_wait(&rec->followers, r);
	return MSD_OK;
}

static msd_err read_wish(const msgpack_object *o, struct wish *w, uint64_t *wait_ms,
			 struct msd_diag *d)
{
	static const char *const known[] = {"from", "wait_ms", "every", "module", NULL};
	struct msd_span module = {0};
	msd_err err = msd_map_check(o, "server.monitor", known, d);

	if (err == MSD_OK)
		err = msd_map_uint(o, "from", UINT64_MAX, &w->from, d);
	if (err == MSD_OK)
		err = msd_map_uint(o, "wait_ms", MOST_WAIT_MS, wait_ms, d);
	if (err == MSD_OK)
		err = msd_map_uint(o, "every", UINT32_MAX, &w->every, d);
	if (err == MSD_OK)
		err = msd_map_str(o, "module", &module, d);
	if (err != MSD_OK)
		return err;
	if (w->every == 0 || module.n >= sizeof(w->module)) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "server.monitor: %s",
				    w->every == 0 ? "every: expected 1 or more"
						  : "module: the name is too long");
	}
	memcpy(w->module, module.n > 0 ? module.p : (const uint8_t *)"", module.n);
	return MSD_OK;
}

msd_err msd_method_monitor(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_module_registry *registry = c->session->edge->registry;
	struct wish w = {.from = registry->call_log.total, .every = 1};
	uint64_t wait_ms = 0;
	msd_err err = MSD_OK;

	if (c->params->via.array.size > 0)
		err = read_wish(&c->params->via.array.ptr[0], &w, &wait_ms, d);
	if (err != MSD_OK)
		return err;
	msd_direct_hold_off(registry);
	if (c->options.has_deadline && c->options.deadline_ms < wait_ms)
		wait_ms = c->options.deadline_ms;
	if (put_answer(&w, registry, &c->result) > 0 || wait_ms == 0)
		return MSD_OK;
	msd_buf_finish(&c->result);
	return follow(c, &w, wait_ms, d);
}

msd_err msd_method_slowlog(struct msd_method_call *c, struct msd_diag *d)
{
	const struct msd_module_registry *registry = c->session->edge->registry;
	const struct msd_call_log *log = &registry->slow_log;
	const struct msd_call_slot *slot = msd_call_log_find(log, 0);

	(void)d;
	msd_pack_array(&c->result, log->n_used);
	for (; slot != NULL; slot = msd_call_log_after(log, slot))
		put_record(&c->result, registry, slot, true);
	return MSD_OK;
}
