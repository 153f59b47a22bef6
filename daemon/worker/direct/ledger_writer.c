/*
 * Happy path: a direct peer's call is counted on arrival. While a request runs, the
 * ledger holds its sender, start, function, and the deadline of a direct peer's call.
 * After a direct peer's call its times are added, and its function's row is
 * incremented. A function gets a row only when it is found in the module, because
 * names come from clients. Failures: without a free row it is counted as other.
 */
#include "daemon/worker/direct/ledger_writer.h"

#include <string.h>

#include "daemon/segments/ledger.h"
#include "daemon/worker/direct/direct_peer.h"

/* @who runs from now on. */
static void note_who(struct msd_ledger *l, uint64_t who, uint64_t since_ns,
		     uint64_t deadline_ns)
{
	msd_ledger_set(&l->since_ns, since_ns);
	msd_ledger_set(&l->deadline_ns, deadline_ns);
	msd_ledger_set(&l->who, who);
}

void msd_ledger_writer_come(struct msd_worker *w, const struct msd_request *r)
{
	if (w->ledger != NULL)
		msd_ledger_add(&w->ledger->n_came[r->peer->guest->number], 1);
}

static uint64_t find_row(struct msd_ledger *l, struct msd_func *func)
{
	if (func != NULL && func->ledger_row != MSD_LEDGER_OTHER)
		return func->ledger_row;
	const size_t n = func != NULL ? strlen(func->name) : 0;
	if (n == 0 || n > sizeof(l->rows[0].name))
		return MSD_LEDGER_OTHER;
	for (uint16_t i = MSD_LEDGER_OTHER + 1; i < MSD_LEDGER_ROWS; i++) {
		if (l->rows[i].n_name != 0)
			continue;
		memcpy(l->rows[i].name, func->name, n);
		msd_ledger_set(&l->rows[i].n_name, n);
		func->ledger_row = i;
		return i;
	}
	return MSD_LEDGER_OTHER;
}

void msd_ledger_writer_begin(struct msd_worker *w, const struct msd_request *r)
{
	const struct msd_direct_peer *g = r->peer->guest;
	const uint64_t now_ns = msd_wire_now_ns(&w->wire);

	if (w->ledger == NULL)
		return;
	w->last_run_ns = 0;
	if (g != NULL)
		msd_ledger_set(&w->ledger->row, find_row(w->ledger, r->func));
	/* The previous request may have ended after the iteration began. */
	note_who(w->ledger, g != NULL ? g->number : MSD_LEDGER_CHANNEL,
		 now_ns > w->last_end_ns ? now_ns : w->last_end_ns,
		 g != NULL ? r->deadline_ns : 0);
}

void msd_ledger_writer_name(struct msd_worker *w, const struct msd_request *r)
{
	if (w->ledger != NULL && r->peer->guest != NULL)
		msd_ledger_set(&w->ledger->row, find_row(w->ledger, r->func));
}

static void note_time(struct msd_ledger_times *t, uint64_t ns)
{
	msd_ledger_add(&t->sum_ns, ns);
	msd_ledger_add(&t->n[63 - __builtin_clzll(ns | 1u)], 1);
}

static void note_slow(struct msd_ledger *l, const struct msd_ledger_slow *s)
{
	l->slow[l->n_slow % MSD_LEDGER_SLOW] = *s;
	msd_ledger_add(&l->n_slow, 1);
}

/* Record the end of a direct peer's call @r, which ran for @run_ns. */
static void note_call(struct msd_ledger *l, const struct msd_request *r, unsigned code,
		      uint64_t run_ns, uint64_t now_ns)
{
	const uint64_t all_ns = now_ns > r->came_ns ? now_ns - r->came_ns : 0;
	const uint64_t wait_ns = all_ns > run_ns ? all_ns - run_ns : 0;
	const uint64_t slow_ns = r->peer->guest->slow_ns;
	const uint64_t row = find_row(l, r->func);

	msd_ledger_add(&l->n_calls[r->peer->guest->number], 1);
	note_time(&l->wait, wait_ns);
	note_time(&l->run, run_ns);
	if (slow_ns > 0 && wait_ns + run_ns >= slow_ns) {
		note_slow(l, &(struct msd_ledger_slow){.row = row,
						       .code = code,
						       .guest = r->peer->guest->number,
						       .wait_ns = wait_ns,
						       .run_ns = run_ns});
	}
	msd_ledger_add(
		&l->rows[row].ended[code < MSD_LEDGER_CODES ? code : MSD_INTERNAL], 1);
}

void msd_ledger_writer_end(struct msd_worker *w, const struct msd_request *r,
			   unsigned code)
{
	struct msd_ledger *l = w->ledger;

	if (l == NULL)
		return;
	const uint64_t run_ns = l->who != 0 ? w->last_run_ns : 0;
	const uint64_t now_ns = run_ns > 0 ? w->last_end_ns : msd_wire_now_ns(&w->wire);

	note_who(l, 0, now_ns, 0);
	if (r->peer->guest != NULL)
		note_call(l, r, code, run_ns, now_ns);
}
