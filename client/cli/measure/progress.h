#ifndef MSD_CLI_PROGRESS_H
#define MSD_CLI_PROGRESS_H
/* Shows the progress of an upload or a pull on one terminal line: percentage, rate,
 * remaining time. */
#include <stdbool.h>

#include "proto/base/bytes.h"

struct msd_progress {
	const char *verb, *name; /* "load", and the module's name */
	uint64_t started_ms;
	uint64_t shown_ms;
	bool is_open; /* a line was started and not finished */
};

/** Start the progress of @verb for the module @name (both borrowed). */
struct msd_progress msd_progress_begin(const char *verb, const char *name);
/**
 * Append the line for @done of @total bytes (0: unknown) after @elapsed_ms, without a
 * newline. It has at most @columns (0: unknown); the module's name is dropped first,
 * then figures. A longer line would wrap, and a terminal rewrites only its last row.
 */
void msd_progress_put(struct msd_buf *out, const struct msd_progress *p, uint64_t done,
		      uint64_t total, uint64_t elapsed_ms, size_t columns);
/**
 * Show it on standard error, at most ten times a second; a progress function for
 * libmodser, where @progress is a struct msd_progress.
 */
void msd_progress_show(void *progress, uint64_t done, uint64_t total);
/** End the line, so that later output on standard error starts a new one. */
void msd_progress_end(struct msd_progress *p);
/** The same for any open line; safe in a signal handler. */
void msd_progress_interrupted(void);

#endif
