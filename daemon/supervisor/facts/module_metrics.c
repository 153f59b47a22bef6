/*
 * The format requires all modules of a family before the next family. The samples of
 * one module in a family are written at once, so that they are consistent. Series
 * that are still zero are omitted if a module has many of them: functions without
 * calls, error codes without calls, stages without calls.
 */
#include "daemon/supervisor/facts/module_metrics.h"

#include <stdio.h>

#include "daemon/child/child.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/stats/call_stats.h"
#include "daemon/supervisor/module/workers/busy.h"
#include "daemon/supervisor/module/workers/process.h"
#include "daemon/supervisor/module/workers/replica.h"

#define NUMBER_BYTES 12u

/* A number of each module. */
struct row {
	uint64_t (*read)(const struct msd_module *m);
	struct msd_family family;
};

static uint64_t read_ready(const struct msd_module *m)
{
	return m->life.state == MSD_STATE_READY;
}

static uint64_t read_queued(const struct msd_module *m)
{
	return m->group.n_queued;
}

static uint64_t read_sent(const struct msd_module *m)
{
	return msd_module_in_flight(m) - m->group.n_queued;
}

static uint64_t read_restarts(const struct msd_module *m)
{
	return m->life.n_restarts;
}

static uint64_t read_workers(const struct msd_module *m)
{
	return m->group.n_replicas;
}

static uint64_t read_open(const struct msd_module *m)
{
	return m->life.n_open;
}

static uint64_t read_bytes(const struct msd_module *m)
{
	return m->group.source.bytes;
}

/* In whole seconds: a module that is busy for less is not hung. */
static uint64_t read_busy(const struct msd_module *m)
{
	uint64_t ms;

	return msd_busy_longest(&m->group, &ms) ? ms / 1000 : 0;
}

static uint64_t read_hung(const struct msd_module *m)
{
	uint64_t ms;

	return msd_busy_is_hung(&m->group, &ms);
}

static const struct row rows[] = {
	{read_ready,
	 {"modserd_module_ready", "1 when the module can be called, else 0.", MSD_GAUGE,
	  MSD_UNIT_NONE}},
	{read_queued,
	 {"modserd_module_queued_requests", "Requests that wait for a worker.",
	  MSD_GAUGE, MSD_UNIT_NONE}},
	{read_sent,
	 {"modserd_module_sent_requests", "Requests that workers have.", MSD_GAUGE,
	  MSD_UNIT_NONE}},
	{read_restarts,
	 {"modserd_module_restarts", "Workers that were started again.", MSD_COUNTER,
	  MSD_UNIT_NONE}},
	{read_workers,
	 {"modserd_module_workers", "Workers that the module was loaded with.",
	  MSD_GAUGE, MSD_UNIT_NONE}},
	{read_open,
	 {"modserd_module_workers_open", "Workers that can be called.", MSD_GAUGE,
	  MSD_UNIT_NONE}},
	{read_busy,
	 {"modserd_module_busy_seconds",
	  "Longest time that a worker has run its current call.", MSD_GAUGE,
	  MSD_UNIT_NONE}},
	{read_hung,
	 {"modserd_module_hung",
	  "1 if no worker has answered for longer than max-run, else 0.", MSD_GAUGE,
	  MSD_UNIT_NONE}},
	{read_bytes,
	 {"modserd_module_file_bytes", "Bytes of the module's artifact.", MSD_GAUGE,
	  MSD_UNIT_NONE}},
};

static const struct msd_family calls = {.name = "modserd_calls",
					.help = "Answered calls of clients.",
					.kind = MSD_COUNTER};

static void put_count(struct msd_exposition *x, const char *module,
		      const char *function, unsigned code, uint64_t n)
{
	const struct msd_label labels[] = {{"module", module},
					   {"function", function},
					   {"code", msd_call_stats_code_name(code)}};

	if (n > 0)
		msd_exposition_put(x, &calls, labels, 3, n);
}

static void put_tally(struct msd_exposition *x, const struct msd_module *m)
{
	const struct msd_call_stats *t = m->group.call_stats;

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const char *name = t->rows[i].name;
		for (unsigned code = 0; code < MSD_CALL_STATS_CODES; code++) {
			put_count(x, m->group.name,
				  name != NULL ? name : MSD_CALL_STATS_OTHER_NAME, code,
				  msd_call_stats_count(&t->rows[i], code));
		}
	}
}

/* Calls that reached no module have no known module or function name. */
static void put_lost_calls(struct msd_exposition *x, const struct msd_edge *e)
{
	for (unsigned code = 0; code < MSD_ERR_COUNT; code++)
		put_count(x, "", "", code, e->counts.lost_calls[code]);
}

static const struct msd_family stages = {.name = "modserd_call_stage_seconds",
					 .help = "Time of calls in each stage.",
					 .kind = MSD_HISTOGRAM,
					 .unit = MSD_UNIT_NS};

static void put_stage(struct msd_exposition *x, const struct msd_module *m,
		      const char *stage, const struct msd_times *t)
{
	const struct msd_label labels[] = {{"module", m->group.name}, {"stage", stage}};

	if (msd_histogram_total(&t->device_list) > 0) {
		msd_exposition_put_times(x, &stages, labels, 2, &t->device_list,
					 t->sum_ns);
	}
}

static void put_stages(struct msd_exposition *x, const struct msd_module *m)
{
	for (unsigned i = 0; i < MSD_STAGE_COUNT; i++) {
		put_stage(x, m, msd_stage_name((enum msd_stage)i), &m->group.stages[i]);
	}
	put_stage(x, m, MSD_STAGE_REPLY_NAME, &m->group.call_stats->replies);
}

static const struct msd_family memory = {
	.name = "modserd_worker_resident_memory_bytes",
	.help = "Resident memory of a worker, as of the last second."};

static void put_worker(struct msd_exposition *x, struct msd_replica *rep,
		       uint32_t *looks)
{
	char number[NUMBER_BYTES];
	const struct msd_label labels[] = {{"module", rep->group->name},
					   {"worker", number}};

	if (rep->process == NULL || msd_child_pid(rep->process->child) == 0)
		return;
	(void)snprintf(number, sizeof(number), "%u", rep->number);
	const uint64_t bytes =
		msd_rss_recent(&rep->process->rss, msd_child_pid(rep->process->child),
			       uv_now(rep->group->registry->loop), looks);
	msd_exposition_put(x, &memory, labels, 2, bytes);
}

static void put_memory(struct msd_exposition *x, struct msd_module *m,
		       struct msd_module_metrics_at *at)
{
	uint32_t looks = MSD_RSS_LOOKS - at->n_looks;
	const uint32_t before = looks;

	for (uint32_t i = 0; i < m->group.n_replicas; i++)
		put_worker(x, &m->group.replicas[i], &looks);
	at->n_looks += before - looks;
}

/* Families in order: calls, stages, each row, memory. */
enum { CALLS, STAGES, FIRST_ROW };
#define N_ROWS ((unsigned)(sizeof(rows) / sizeof(*rows)))
#define MEMORY (FIRST_ROW + N_ROWS)
#define N_FAMILIES (MEMORY + 1)

static const struct msd_family *family_of(unsigned family)
{
	return family == CALLS    ? &calls
	       : family == STAGES ? &stages
	       : family == MEMORY ? &memory
				  : &rows[family - FIRST_ROW].family;
}

static void put_module(struct msd_exposition *x, struct msd_module *m, bool is_told,
		       struct msd_module_metrics_at *at)
{
	const struct msd_label label = {"module", m->group.name};

	if (!is_told) {
		return;
	} else if (at->family == MEMORY) {
		put_memory(x, m, at);
	} else if (at->family == CALLS) {
		put_tally(x, m);
	} else if (at->family == STAGES) {
		put_stages(x, m);
	} else {
		const struct row *row = &rows[at->family - FIRST_ROW];
		msd_exposition_put(x, &row->family, &label, 1, row->read(m));
	}
}

static void open_family(struct msd_exposition *x, const struct msd_edge *e,
			struct msd_module_metrics_at *at)
{
	msd_exposition_open(x, family_of(at->family));
	if (at->family == CALLS)
		put_lost_calls(x, e);
	at->next = e->registry->modules.next;
}

/* Write the modules of the family from at->next on; false: there are more. */
static bool put_family(struct msd_exposition *x,
		       const struct msd_module_registry *registry,
		       const struct msd_view *view, struct msd_module_metrics_at *at,
		       size_t until)
{
	for (; at->next != &registry->modules; at->next = at->next->next) {
		struct msd_module *m =
			MSD_CONTAINER_OF(at->next, struct msd_module, link);
		if (x->out->n >= until && !x->out->bad)
			return false;
		put_module(x, m, view == NULL || view->sees(view->who, m->group.name),
			   at);
	}
	return true;
}

bool msd_module_metrics_put(struct msd_exposition *x, const struct msd_edge *e,
			    const struct msd_view *view,
			    struct msd_module_metrics_at *at, size_t until)
{
	for (; at->family < N_FAMILIES; at->family++) {
		if (at->next == NULL)
			open_family(x, e, at);
		if (!put_family(x, e->registry, view, at, until))
			return false;
		at->next = NULL;
	}
	return true;
}
