#ifndef MSD_CLI_PROGRESS_H
#define MSD_CLI_PROGRESS_H
/* How far an upload or a pull is, on one line of a terminal: part, rate, time left. */
#include <stdbool.h>

#include "proto/bytes.h"

struct msd_progress {
	const char *verb, *name; /* "load", and the module's */
	uint64_t started_ms;
	uint64_t shown_ms;
	bool is_open; /* a line was begun and not ended */
};

/** Of @verb for the module @name (both borrowed), from now on. */
struct msd_progress msd_progress_begin(const char *verb, const char *name);
/** Append the line for @done of @total bytes, 0: not known, after @elapsed_ms; without
 * an end. It has at most @columns, 0: not known, and leaves the module's name out
 * first, then figures: of a line that is wrapped a terminal takes back the last part
 * alone. */
void msd_progress_put(struct msd_buf *out, const struct msd_progress *p, uint64_t done,
		      uint64_t total, uint64_t elapsed_ms, size_t columns);
/** Show it on standard error, ten times a second at most; a progress function of
 * libmodser's, @progress a struct msd_progress. */
void msd_progress_show(void *progress, uint64_t done, uint64_t total);
/** What comes next on standard error begins a line. */
void msd_progress_end(struct msd_progress *p);
/** The same, of whatever line is open, in a signal's handler. */
void msd_progress_interrupted(void);

#endif
