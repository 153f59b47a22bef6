/*
 * Happy path: find the row of a function by its name, or add one if there is room,
 * and count its calls there. Failures: without memory the function uses the shared
 * row, and an error that cannot be counted is dropped.
 */
#include "daemon/supervisor/module/stats/call_stats.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/request/request.h"
#include "proto/limits.h"

uint64_t msd_histogram_total(const struct msd_histogram *h)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < MSD_HISTOGRAM_BINS; i++)
		total += h->n[i];
	return total;
}

uint64_t msd_histogram_quantile(const struct msd_histogram *h, unsigned percent)
{
	const uint64_t total = msd_histogram_total(h);
	double rank = (double)total * percent / 100.0;
	unsigned i = 0;

	if (total == 0)
		return 0;
	while (i + 1 < MSD_HISTOGRAM_BINS && (h->n[i] == 0 || rank > (double)h->n[i])) {
		rank -= (double)h->n[i];
		i++;
	}
	const double least = (double)(UINT64_C(1) << i);
	const double part = h->n[i] > 0 ? rank / (double)h->n[i] : 0;
	return (uint64_t)(least + least * part);
}

const char *msd_stage_name(enum msd_stage stage)
{
	static const char *const names[MSD_STAGE_COUNT] = {[MSD_STAGE_READ] = "read",
							   [MSD_STAGE_QUEUE] = "queue",
							   [MSD_STAGE_WORKER] =
								   "worker",
							   [MSD_STAGE_RUN] = "run"};

	return names[stage];
}

static void tell_written(struct msd_written *w, uint64_t ns, uint32_t n, bool sent)
{
	struct msd_call_stats *t = MSD_CONTAINER_OF(w, struct msd_call_stats, written);

	if (sent)
		msd_times_note_each(&t->replies, ns, n);
	t->n_refs -= n - 1;
	msd_call_stats_unref(t);
}

void msd_call_stats_time(struct msd_call_stats *t, struct msd_out *o)
{
	o->written = &msd_call_stats_ref(t)->written;
}

struct msd_call_stats *msd_call_stats_new(const char *name)
{
	struct msd_call_stats *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->cap_rows = 8;
	t->rows = calloc(t->cap_rows, sizeof(*t->rows));
	t->name = strdup(name);
	if (t->rows == NULL || t->name == NULL) {
		free(t->rows);
		free(t->name);
		free(t);
		return NULL;
	}
	t->n_rows = 1;
	t->written.tell = tell_written;
	t->n_refs = 1;
	return t;
}

struct msd_call_stats *msd_call_stats_ref(struct msd_call_stats *t)
{
	t->n_refs++;
	return t;
}

void msd_call_stats_unref(struct msd_call_stats *t)
{
	if (t == NULL || --t->n_refs > 0)
		return;
	for (uint32_t i = 0; i < t->n_rows; i++) {
		free(t->rows[i].name);
		free(t->rows[i].n_failed);
	}
	free(t->rows);
	free(t->name);
	free(t);
}

/* Hash the length and the first and last eight bytes: enough to distinguish the
 * functions of a module. */
static uint32_t slot_of(struct msd_span s)
{
	uint64_t first = 0, last = 0;

	if (s.n >= sizeof(first)) {
		memcpy(&first, s.p, sizeof(first));
		memcpy(&last, s.p + s.n - sizeof(last), sizeof(last));
	} else if (s.n >= sizeof(uint32_t)) {
		first = msd_le32(s.p);
		last = msd_le32(s.p + s.n - sizeof(uint32_t));
	} else if (s.n > 0) {
		first = s.p[0];
		last = s.p[s.n - 1];
	}
	first = (first ^ (last * UINT64_C(0x9e3779b97f4a7c15)) ^ s.n) *
		UINT64_C(0xff51afd7ed558ccd);
	return (uint32_t)(first >> 32) % MSD_CALL_STATS_SLOTS;
}

static bool is_named(const struct msd_call_stats_row *row, struct msd_span function)
{
	return row->n == function.n && memcmp(row->name, function.p, function.n) == 0;
}

/* Return the slot of @function, or the free slot for it: there are more slots than
 * rows. */
static uint32_t find(const struct msd_call_stats *t, struct msd_span function)
{
	uint32_t at = slot_of(function);

	while (t->slots[at] != MSD_CALL_STATS_OTHER) {
		if (is_named(&t->rows[t->slots[at]], function))
			return at;
		at = (at + 1) % MSD_CALL_STATS_SLOTS;
	}
	return at;
}

uint8_t msd_call_stats_find(struct msd_call_stats *t, struct msd_span function)
{
	if (!is_named(&t->rows[t->last], function))
		t->last = t->slots[find(t, function)];
	return t->last;
}

static bool make_room(struct msd_call_stats *t)
{
	struct msd_call_stats_row *rows;

	if (t->n_rows < t->cap_rows)
		return true;
	rows = realloc(t->rows, 2 * t->cap_rows * sizeof(*rows));
	if (rows == NULL)
		return false;
	t->rows = rows;
	t->cap_rows *= 2;
	return true;
}

uint8_t msd_call_stats_add(struct msd_call_stats *t, struct msd_span function)
{
	const uint32_t at = find(t, function);
	char *name;

	/* A function with the name of the shared row uses that row. */
	if (t->slots[at] != MSD_CALL_STATS_OTHER || !msd_call_stats_has_room(t) ||
	    msd_span_is(function, MSD_CALL_STATS_OTHER_NAME) ||
	    function.n > MSD_MAX_FUNC_NAME_BYTES || !make_room(t))
		return t->slots[at];
	name = strndup((const char *)function.p, function.n);
	if (name == NULL)
		return MSD_CALL_STATS_OTHER;
	t->rows[t->n_rows] =
		(struct msd_call_stats_row){.name = name, .n = strlen(name)};
	t->slots[at] = (uint8_t)t->n_rows;
	return (uint8_t)t->n_rows++;
}

void msd_call_stats_note(struct msd_call_stats *t, uint8_t row, unsigned code)
{
	msd_call_stats_note_each(t, row, code, 1);
}

void msd_call_stats_note_each(struct msd_call_stats *t, uint8_t row, unsigned code,
			      uint64_t n)
{
	struct msd_call_stats_row *r = &t->rows[row];

	if (code == MSD_OK) {
		r->n_ok += n;
		return;
	}
	if (n == 0)
		return;
	if (r->n_failed == NULL)
		r->n_failed = calloc(MSD_CALL_STATS_CODES, sizeof(*r->n_failed));
	if (r->n_failed != NULL)
		r->n_failed[code < MSD_CALL_STATS_CODES ? code : MSD_INTERNAL] += n;
}

void msd_call_stats_spend(struct msd_call_stats *t, uint8_t row, unsigned code,
			  const uint64_t ns[restrict MSD_STAGE_COUNT])
{
	struct msd_call_stats_row *r = &t->rows[row];

	if (code == MSD_OK) {
		for (unsigned i = 0; i < MSD_STAGE_COUNT; i++)
			r->spent_ns[i] += ns[i];
	} else {
		for (unsigned i = 0; i < MSD_STAGE_COUNT; i++)
			r->failed_ns += ns[i];
	}
}

uint64_t msd_call_stats_count(const struct msd_call_stats_row *row, unsigned code)
{
	if (code == MSD_OK)
		return row->n_ok;
	return row->n_failed != NULL ? row->n_failed[code] : 0;
}

const char *msd_call_stats_code_name(unsigned code)
{
	return code == MSD_REQ_UNANSWERED ? "ABANDONED" : msd_err_name((msd_err)code);
}
