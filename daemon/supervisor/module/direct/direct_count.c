/*
 * Count the calls on direct channels like calls through the supervisor. Happy path:
 * add the growth of the worker's ledger since the last read to the statistics of its
 * module. Failures: the ledger reports fewer calls than before, more than the elapsed
 * time allows, or a function that the module lacks. Such values are ignored.
 */
#include <string.h>

#include "daemon/limits.h"
#include "daemon/segments/ledger.h"
#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/stats/call_stats.h"
#include "daemon/supervisor/module/workers/replica.h"
#include "proto/base/clock.h"

_Static_assert(MSD_LEDGER_BINS == MSD_HISTOGRAM_BINS, "one counts in the other's");
_Static_assert(sizeof(((struct msd_ledger_row *)NULL)->ended) ==
		       MSD_CALL_STATS_CODES * sizeof(uint64_t),
	       "a row has as many codes as one of the tally");

/* Minimum time of a call. */
#define LEAST_CALL_NS 100u
/* Maximum number of unanswered requests, which wait at the same time. */
#define MOST_THAT_WAIT (MSD_MAX_GUESTS * 2u * MSD_DIRECT_REQUESTS)
/* Limit of the values that grow with time, so that they do not wrap. */
#define MOST_LEFT (UINT64_MAX / 2)

/* Take at most what is left. */
static uint64_t take(uint64_t wanted, uint64_t *left)
{
	const uint64_t n = wanted < *left ? wanted : *left;

	*left -= n;
	return n;
}

static void grow(uint64_t *left, uint64_t more)
{
	*left = more < MOST_LEFT - *left ? *left + more : MOST_LEFT;
}

/* Grow the limits by the time since the last read. */
static void pass_time(struct msd_ledger_left *left)
{
	const uint64_t now_ns = msd_now_ns();
	const uint64_t ns = now_ns - left->at_ns;
	struct msd_ledger_part *parts[] = {&left->calls, &left->wait, &left->run,
					   &left->spun};

	left->at_ns = now_ns;
	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		grow(&parts[i]->n, ns / LEAST_CALL_NS);
		grow(&parts[i]->ns, ns);
	}
	grow(&left->wait.ns, ns < MOST_LEFT / MOST_THAT_WAIT ? ns * MOST_THAT_WAIT : 0);
}

/* Return the growth since the last read. */
static uint64_t more(const uint64_t *now, uint64_t *seen, uint64_t *left)
{
	const uint64_t n = msd_ledger_get(now);
	const uint64_t was = *seen;

	*seen = n;
	return n > was ? take(n - was, left) : 0;
}

static void count_times(const struct msd_ledger_times *now,
			struct msd_ledger_times *seen, struct msd_ledger_part *left,
			struct msd_times *ret)
{
	/* No call takes 2^63 ns. */
	for (unsigned i = 0; i < MSD_LEDGER_BINS - 1; i++)
		ret->device_list.n[i] += more(&now->n[i], &seen->n[i], &left->n);
	ret->sum_ns += more(&now->sum_ns, &seen->sum_ns, &left->ns);
}

static void count_spun(struct msd_process *p)
{
	const struct msd_spin_count *now = &p->ledger->spun;
	struct msd_spin_count *seen = &p->ledger_seen->spun;
	struct msd_ledger_left *left = &p->ledger_left;
	const struct msd_spin_count n = {
		.hits = more(&now->hits, &seen->hits, &left->spun.n),
		.misses = more(&now->misses, &seen->misses, &left->spun.n),
		.waste_ns = more(&now->waste_ns, &seen->waste_ns, &left->spun.ns)};

	msd_spin_count_add(&p->replica->group->spun, &n);
	msd_spin_count_add(&p->registry->spun, &n);
}

/* Return the statistics row for the ledger's @row. Copies its name before the check. */
static uint8_t find_row(struct msd_worker_group *group,
			const struct msd_ledger_row *row, struct msd_ledger_row *seen)
{
	const uint64_t n = msd_ledger_get(&row->n_name);

	if (n == 0 || n > sizeof(seen->name))
		return MSD_CALL_STATS_OTHER;
	if (seen->n_name == 0) {
		seen->n_name = n;
		memcpy(seen->name, row->name, n);
	}
	const struct msd_span name = {(const uint8_t *)seen->name, seen->n_name};
	return msd_facts_function(&group->facts, name) != NULL
		       ? msd_call_stats_add(group->call_stats, name)
		       : MSD_CALL_STATS_OTHER;
}

static void count_row(struct msd_process *p, const struct msd_ledger_row *row,
		      struct msd_ledger_row *seen)
{
	struct msd_worker_group *group = p->replica->group;
	uint64_t n[MSD_LEDGER_CODES], all = 0, n_errors = 0;

	for (unsigned code = 0; code < MSD_LEDGER_CODES; code++) {
		n[code] = more(&row->ended[code], &seen->ended[code],
			       &p->ledger_left.calls.n);
		all += n[code];
		n_errors += msd_err_is_callers(code) ? 0 : n[code];
	}
	if (all == 0)
		return;
	const uint8_t at = find_row(group, row, seen);
	for (unsigned code = 0; code < MSD_LEDGER_CODES; code++)
		msd_call_stats_note_each(group->call_stats, at, code, n[code]);
	msd_call_stats_note_untimed(group->call_stats, at, n[MSD_OK]);
	group->n_calls += all;
	group->n_errors += n_errors - n[MSD_OK];
	group->n_failed += n[MSD_CALL_FAILED];
	group->registry->n_direct_calls += all;
}

/* True if the call was slow, and not older than the ledger. */
static bool may_be_slow(const struct msd_process *p, const struct msd_ledger_slow *s)
{
	const struct msd_ledger_left *left = &p->ledger_left;
	const uint64_t age_ns = left->at_ns - left->from_ns;

	return s->wait_ns <= age_ns && s->run_ns <= age_ns - s->wait_ns &&
	       s->wait_ns + s->run_ns >=
		       p->registry->limits->slow_call_ms * MSD_NS_PER_MS;
}

static void count_slow(const struct msd_process *p, const struct msd_ledger_slow *told)
{
	struct msd_worker_group *group = p->replica->group;
	/* Read once: the worker may change it. */
	const struct msd_ledger_slow s = *(const volatile struct msd_ledger_slow *)told;
	const struct msd_direct *x = msd_direct_find(p, s.guest);

	if (x == NULL || !may_be_slow(p, &s))
		return;
	struct msd_logged_call past = {
		.end_ns = msd_wire_now_ns(group->registry->wire),
		.who = x->who,
		.call_stats = group->call_stats,
		.code = s.code < MSD_LEDGER_CODES ? (uint8_t)s.code : MSD_INTERNAL};
	past.spent_ns[MSD_STAGE_WORKER] = s.wait_ns;
	past.spent_ns[MSD_STAGE_RUN] = s.run_ns;
	if (s.row < MSD_LEDGER_ROWS) {
		past.row = find_row(group, &p->ledger->rows[s.row],
				    &p->ledger_seen->rows[s.row]);
	}
	msd_call_log_add_slow(&group->registry->slow_log, &past, (struct msd_span){0});
}

/* If there are more than its ring holds, the oldest are lost. */
static void count_all_slow(const struct msd_process *p)
{
	uint64_t all = UINT64_MAX;
	const uint64_t n = more(&p->ledger->n_slow, &p->ledger_seen->n_slow, &all);
	const uint64_t total = p->ledger_seen->n_slow;
	uint64_t left = n < MSD_LEDGER_SLOW ? n : MSD_LEDGER_SLOW;

	if (p->registry->limits->slow_call_ms == 0)
		return;
	for (; left > 0; left--)
		count_slow(p, &p->ledger->slow[(total - left) % MSD_LEDGER_SLOW]);
}

void msd_direct_count(struct msd_process *p)
{
	if (p->ledger == NULL || p->replica == NULL)
		return;
	struct msd_worker_group *group = p->replica->group;
	struct msd_ledger_left *left = &p->ledger_left;

	pass_time(left);
	count_times(&p->ledger->wait, &p->ledger_seen->wait, &left->wait,
		    &group->stages[MSD_STAGE_WORKER]);
	count_times(&p->ledger->run, &p->ledger_seen->run, &left->run,
		    &group->stages[MSD_STAGE_RUN]);
	for (unsigned i = 0; i < MSD_LEDGER_ROWS; i++)
		count_row(p, &p->ledger->rows[i], &p->ledger_seen->rows[i]);
	count_all_slow(p);
	count_spun(p);
}

void msd_direct_count_all(struct msd_module_registry *registry)
{
	MSD_LIST_EACH (it, &registry->modules) {
		const struct msd_worker_group *group =
			&MSD_CONTAINER_OF(it, struct msd_module, link)->group;
		for (uint32_t i = 0; i < group->n_replicas; i++) {
			if (group->replicas[i].process != NULL)
				msd_direct_count(group->replicas[i].process);
		}
	}
}

static void count_lost(struct msd_worker_group *group, uint8_t at, msd_err code,
		       uint64_t n)
{
	msd_call_stats_note_each(group->call_stats, at, code, n);
	msd_worker_group_lose(group, n);
	group->registry->n_direct_calls += n;
}

/* Count the call that the worker ran, late or not. */
static void count_running(struct msd_process *p, msd_err code)
{
	struct msd_ledger *l = p->ledger;
	const uint64_t deadline_ns = msd_ledger_get(&l->deadline_ns);
	const uint64_t row = msd_ledger_get(&l->row);
	const bool was_late = deadline_ns != 0 && msd_now_ns() >= deadline_ns;
	const uint8_t at = row < MSD_LEDGER_ROWS
				   ? find_row(p->replica->group, &l->rows[row],
					      &p->ledger_seen->rows[row])
				   : MSD_CALL_STATS_OTHER;

	count_lost(p->replica->group, at, was_late ? MSD_DEADLINE : code, 1);
}

/* Number of unfinished requests on @x. */
static uint64_t waiting_of(const struct msd_direct *x)
{
	const struct msd_ledger *l = x->process->ledger;
	const uint64_t n_came = msd_ledger_get(&l->n_came[x->number]);
	const uint64_t n_over = msd_ledger_get(&l->n_calls[x->number]);
	const uint64_t n = n_came > n_over ? n_came - n_over : 0;

	return n < MSD_DIRECT_REQUESTS ? n : MSD_DIRECT_REQUESTS;
}

/* The ledger has no calls that the worker had not read. Clients repeat those calls,
 * unless they had sent several. */
void msd_direct_count_last(struct msd_process *p, msd_err code)
{
	msd_direct_count(p);
	if (p->ledger == NULL || p->replica == NULL)
		return;
	const uint64_t who = msd_ledger_get(&p->ledger->who);
	MSD_LIST_EACH (it, &p->directs) {
		const struct msd_direct *x = msd_direct_of(it);
		const uint64_t n = waiting_of(x);
		const bool was_running = who == x->number;

		if (was_running)
			count_running(p, code);
		if (n > was_running) {
			count_lost(p->replica->group, MSD_CALL_STATS_OTHER, code,
				   n - was_running);
		}
	}
}
