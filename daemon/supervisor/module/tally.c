/*
 * Happy path: find the row of a function by its name, or add one if there is room,
 * and count its calls there. Failures: without memory the function uses the shared
 * row, and an error that cannot be counted is dropped.
 */
#include "daemon/supervisor/module/tally.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/request/request.h"
#include "proto/limits.h"

static void tell_written(struct msd_written *w, uint64_t ns, uint32_t n, bool sent)
{
	struct msd_tally *t = MSD_CONTAINER_OF(w, struct msd_tally, written);

	if (sent)
		msd_times_note_each(&t->replies, ns, n);
	t->n_refs -= n - 1;
	msd_tally_unref(t);
}

void msd_tally_time(struct msd_tally *t, struct msd_out *o)
{
	o->written = &msd_tally_ref(t)->written;
}

struct msd_tally *msd_tally_new(const char *name)
{
	struct msd_tally *t = calloc(1, sizeof(*t));

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

struct msd_tally *msd_tally_ref(struct msd_tally *t)
{
	t->n_refs++;
	return t;
}

void msd_tally_unref(struct msd_tally *t)
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
	return (uint32_t)(first >> 32) % MSD_TALLY_SLOTS;
}

static bool is_named(const struct msd_tally_row *row, struct msd_span function)
{
	return row->n == function.n && memcmp(row->name, function.p, function.n) == 0;
}

/* Return the slot of @function, or the free slot for it: there are more slots than
 * rows. */
static uint32_t find(const struct msd_tally *t, struct msd_span function)
{
	uint32_t at = slot_of(function);

	while (t->slots[at] != MSD_TALLY_OTHER) {
		if (is_named(&t->rows[t->slots[at]], function))
			return at;
		at = (at + 1) % MSD_TALLY_SLOTS;
	}
	return at;
}

uint8_t msd_tally_find(struct msd_tally *t, struct msd_span function)
{
	if (!is_named(&t->rows[t->last], function))
		t->last = t->slots[find(t, function)];
	return t->last;
}

static bool make_room(struct msd_tally *t)
{
	struct msd_tally_row *rows;

	if (t->n_rows < t->cap_rows)
		return true;
	rows = realloc(t->rows, 2 * t->cap_rows * sizeof(*rows));
	if (rows == NULL)
		return false;
	t->rows = rows;
	t->cap_rows *= 2;
	return true;
}

uint8_t msd_tally_add(struct msd_tally *t, struct msd_span function)
{
	const uint32_t at = find(t, function);
	char *name;

	/* A function with the name of the shared row uses that row. */
	if (t->slots[at] != MSD_TALLY_OTHER || !msd_tally_has_room(t) ||
	    msd_span_is(function, MSD_TALLY_OTHER_NAME) ||
	    function.n > MSD_MAX_FUNC_NAME_BYTES || !make_room(t))
		return t->slots[at];
	name = strndup((const char *)function.p, function.n);
	if (name == NULL)
		return MSD_TALLY_OTHER;
	t->rows[t->n_rows] = (struct msd_tally_row){.name = name, .n = strlen(name)};
	t->slots[at] = (uint8_t)t->n_rows;
	return (uint8_t)t->n_rows++;
}

void msd_tally_note(struct msd_tally *t, uint8_t row, unsigned code)
{
	msd_tally_note_each(t, row, code, 1);
}

void msd_tally_note_each(struct msd_tally *t, uint8_t row, unsigned code, uint64_t n)
{
	struct msd_tally_row *r = &t->rows[row];

	if (code == MSD_OK) {
		r->n_ok += n;
		return;
	}
	if (n == 0)
		return;
	if (r->n_failed == NULL)
		r->n_failed = calloc(MSD_TALLY_CODES, sizeof(*r->n_failed));
	if (r->n_failed != NULL)
		r->n_failed[code < MSD_TALLY_CODES ? code : MSD_INTERNAL] += n;
}

void msd_tally_spend(struct msd_tally *t, uint8_t row, unsigned code,
		     const uint64_t ns[restrict MSD_STAGE_COUNT])
{
	struct msd_tally_row *r = &t->rows[row];

	if (code == MSD_OK) {
		for (unsigned i = 0; i < MSD_STAGE_COUNT; i++)
			r->spent_ns[i] += ns[i];
	} else {
		for (unsigned i = 0; i < MSD_STAGE_COUNT; i++)
			r->failed_ns += ns[i];
	}
}

uint64_t msd_tally_count(const struct msd_tally_row *row, unsigned code)
{
	if (code == MSD_OK)
		return row->n_ok;
	return row->n_failed != NULL ? row->n_failed[code] : 0;
}

const char *msd_tally_code_name(unsigned code)
{
	return code == MSD_REQ_UNANSWERED ? "ABANDONED" : msd_err_name((msd_err)code);
}
