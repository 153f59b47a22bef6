#ifndef MSD_SUPERVISOR_CALL_STATS_H
#define MSD_SUPERVISOR_CALL_STATS_H

/*
 * Call statistics of a module, by function and code. They belong to the module's
 * name: a replacement continues to count in them, and both modules count while the
 * old one drains.
 *
 * The first MSD_CALL_STATS_FUNCTIONS functions that are called have a row each; all
 * other functions share row 0.
 */

#include <stdint.h>

#include "daemon/loop/list.h"
#include "daemon/stream/conn.h"
#include "proto/base/bytes.h"

/* Histogram of the run times of a module's calls, by the highest bit of their
 * nanoseconds. One addition per call; a quantile is exact to a factor below two. */

#define MSD_HISTOGRAM_BINS 64u

struct msd_histogram {
	uint64_t n[MSD_HISTOGRAM_BINS]; /* 2^i to 2^(i + 1) - 1 ns; 0 is in bin 0 */
};

static inline void msd_histogram_note_each(struct msd_histogram *h, uint64_t ns,
					   uint32_t n)
{
	h->n[63 - __builtin_clzll(ns | 1u)] += n;
}

static inline void msd_histogram_note(struct msd_histogram *h, uint64_t ns)
{
	msd_histogram_note_each(h, ns, 1);
}

/** Number of all noted calls. */
uint64_t msd_histogram_total(const struct msd_histogram *h);
/**
 * Return the time in ns below which @percent of the calls stayed. Assumes that calls
 * are spread evenly within a bin. 0 if the histogram is empty.
 */
uint64_t msd_histogram_quantile(const struct msd_histogram *h, unsigned percent);

/* Stages of a call, one after the other, for measuring its time. */

enum msd_stage {
	MSD_STAGE_READ,   /* from its body until all its bytes have arrived */
	MSD_STAGE_QUEUE,  /* until it is sent to a worker */
	MSD_STAGE_WORKER, /* until the worker has answered, without the run */
	MSD_STAGE_RUN,    /* in the function, reported by the worker */
	MSD_STAGE_COUNT
};

/* Times of one stage, of all calls. */
struct msd_times {
	struct msd_histogram device_list;
	uint64_t sum_ns;
};

/* Note @n calls that took @ns each. */
static inline void msd_times_note_each(struct msd_times *t, uint64_t ns, uint32_t n)
{
	t->sum_ns += n * ns;
	msd_histogram_note_each(&t->device_list, ns, n);
}

static inline void msd_times_note(struct msd_times *t, uint64_t ns)
{
	msd_times_note_each(t, ns, 1);
}

#define MSD_STAGE_REPLY_NAME "reply" /* the last stage, in the call statistics */

/** Return the name of @stage, such as "queue". Static. */
const char *msd_stage_name(enum msd_stage stage);

#define MSD_CALL_STATS_FUNCTIONS 200u
#define MSD_CALL_STATS_OTHER 0u
#define MSD_CALL_STATS_OTHER_NAME "other"
#define MSD_CALL_STATS_CODES (MSD_ERR_COUNT + 1u)
#define MSD_CALL_STATS_SLOTS 512u

struct msd_call_slot;

struct msd_call_stats_row {
	char *name; /* owned; NULL for row 0 */
	size_t n;
	uint64_t n_ok;
	uint64_t n_untimed;                 /* successful calls without stage times */
	uint64_t spent_ns[MSD_STAGE_COUNT]; /* for calls with stage times */
	uint64_t failed_ns;                 /* of failed calls, all stages */
	uint64_t *n_failed; /* owned, MSD_CALL_STATS_CODES; NULL: none failed */
};

/* The calls of one module in a call log (call_log.h), oldest first. */

enum msd_call_log_kind { MSD_ALL_CALLS, MSD_SLOW_ONES, MSD_CALL_LOGS };

struct msd_call_lane {
	struct msd_list link; /* msd_call_log.lanes, unless n is 0 */
	struct msd_call_slot *last;
	uint32_t n;
	uint64_t dropped_end; /* number after its last dropped call */
};

struct msd_call_stats {
	struct msd_written written; /* for replies in flight: a reference each */
	struct msd_times replies;   /* from the worker's answer to the last byte */
	struct msd_call_lane lanes[MSD_CALL_LOGS];
	char *name; /* owned */
	uint32_t n_refs, n_rows, cap_rows;
	uint8_t last;                        /* row that was found last: calls repeat */
	struct msd_call_stats_row *rows;     /* owned; row 0 always exists */
	uint8_t slots[MSD_CALL_STATS_SLOTS]; /* rows by name; 0: free */
};

/**
 * Create the statistics of the module @name, with one reference. NULL: out of memory.
 */
struct msd_call_stats *msd_call_stats_new(const char *name);
struct msd_call_stats *msd_call_stats_ref(struct msd_call_stats *t);
/** Drop a reference; the last one frees it. NULL is fine. */
void msd_call_stats_unref(struct msd_call_stats *t);
/** Measure how long it takes to write @o; counted when it is sent. */
void msd_call_stats_time(struct msd_call_stats *t, struct msd_out *o);
/** Return the row of @function, or MSD_CALL_STATS_OTHER without one. */
uint8_t msd_call_stats_find(struct msd_call_stats *t, struct msd_span function);
/** The same; add a row if there is none and there is room. */
uint8_t msd_call_stats_add(struct msd_call_stats *t, struct msd_span function);
/** True if new functions may still get a row. */
static inline bool msd_call_stats_has_room(const struct msd_call_stats *t)
{
	return t->n_rows <= MSD_CALL_STATS_FUNCTIONS;
}
/** Count a call in @row that ended with @code, an msd_err or MSD_REQ_UNANSWERED. */
void msd_call_stats_note(struct msd_call_stats *t, uint8_t row, unsigned code);
/** Count @n such calls. */
void msd_call_stats_note_each(struct msd_call_stats *t, uint8_t row, unsigned code,
			      uint64_t n);
/**
 * @n successful calls in @row are counted by msd_call_stats_note_each() without stage
 * times.
 */
static inline void msd_call_stats_note_untimed(struct msd_call_stats *t, uint8_t row,
					       uint64_t n)
{
	t->rows[row].n_untimed += n;
}
/** Note the time @ns of each stage of a call in @row that ended with @code. */
void msd_call_stats_spend(struct msd_call_stats *t, uint8_t row, unsigned code,
			  const uint64_t ns[restrict MSD_STAGE_COUNT]);
/** Return how many calls in @row ended with @code. */
uint64_t msd_call_stats_count(const struct msd_call_stats_row *row, unsigned code);
/** Return the name of @code: "NOT_FOUND", "ABANDONED". Static. */
const char *msd_call_stats_code_name(unsigned code);

#endif
