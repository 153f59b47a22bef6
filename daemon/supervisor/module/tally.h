#ifndef MSD_SUPERVISOR_TALLY_H
#define MSD_SUPERVISOR_TALLY_H
/*
 * What became of the calls of a module, by function and code. It belongs to the
 * module's name: a module that takes another's place goes on counting where that was,
 * and both count while the old one drains.
 *
 * The first MSD_TALLY_FUNCTIONS functions that are called have a row each; all others
 * share row 0.
 */
#include "daemon/supervisor/module/stage.h"
#include "daemon/wire/conn.h"
#include "proto/bytes.h"

#define MSD_TALLY_FUNCTIONS 200u
#define MSD_TALLY_OTHER 0u
#define MSD_TALLY_OTHER_NAME "other"
#define MSD_TALLY_CODES (MSD_ERR_COUNT + 1u)
#define MSD_TALLY_SLOTS 512u

struct msd_tally_row {
	char *name; /* owned; NULL: of row 0 */
	size_t n;
	uint64_t n_ok;
	uint64_t n_untimed; /* of these, by whose stages no time is known */
	uint64_t spent_ns[MSD_STAGE_COUNT]; /* of the others */
	uint64_t failed_ns;                 /* of those that failed, in all stages */
	uint64_t *n_failed; /* owned, MSD_TALLY_CODES of them; NULL: none failed */
};

struct msd_tally {
	struct msd_written
		written; /* of replies that are on their way: a reference each */
	struct msd_times replies; /* from the worker's answer to the last byte */
	char *name;               /* owned */
	uint32_t n_refs, n_rows, cap_rows;
	uint8_t last;                   /* row that was found last: calls repeat */
	struct msd_tally_row *rows;     /* owned; row 0 is always there */
	uint8_t slots[MSD_TALLY_SLOTS]; /* rows by name; 0: nobody's */
};

/** Of the module @name, with one reference. NULL: out of memory. */
struct msd_tally *msd_tally_new(const char *name);
struct msd_tally *msd_tally_ref(struct msd_tally *t);
/** The last one frees it; NULL is fine. */
void msd_tally_unref(struct msd_tally *t);
/** How long @o takes to be written is counted when it is sent. */
void msd_tally_time(struct msd_tally *t, struct msd_out *o);
/** The row of @function, MSD_TALLY_OTHER when it has none. */
uint8_t msd_tally_find(struct msd_tally *t, struct msd_span function);
/** The same, made when there is none and there is room. */
uint8_t msd_tally_add(struct msd_tally *t, struct msd_span function);
/** Functions that are not there yet may still get a row. */
static inline bool msd_tally_has_room(const struct msd_tally *t)
{
	return t->n_rows <= MSD_TALLY_FUNCTIONS;
}
/** A call of the function of @row ended with @code, an msd_err or MSD_REQ_UNANSWERED.
 */
void msd_tally_note(struct msd_tally *t, uint8_t row, unsigned code);
/** The same of @n calls. */
void msd_tally_note_each(struct msd_tally *t, uint8_t row, unsigned code, uint64_t n);
/** Calls of @row that went well, @n of them, are counted by msd_tally_note_each()
 * without the time of their stages. */
static inline void msd_tally_note_untimed(struct msd_tally *t, uint8_t row, uint64_t n)
{
	t->rows[row].n_untimed += n;
}
/** The call of @row that has ended with @code spent @ns in each stage. */
void msd_tally_spend(struct msd_tally *t, uint8_t row, unsigned code,
		     const uint64_t ns[restrict MSD_STAGE_COUNT]);
/** How many of @row ended with @code. */
uint64_t msd_tally_count(const struct msd_tally_row *row, unsigned code);
/** What @code is called: "NOT_FOUND", "ABANDONED". Static. */
const char *msd_tally_code_name(unsigned code);

#endif
