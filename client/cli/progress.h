#ifndef MSD_CLI_PROGRESS_H
#define MSD_CLI_PROGRESS_H
/* How far an upload is, on one line of a terminal: part, rate, time left. */
#include "proto/bytes.h"

struct msd_progress {
	const char *name; /* of the module */
	uint64_t started_ms;
	uint64_t shown_ms;
};

/** Of the upload of @name (borrowed), from now on. */
struct msd_progress msd_progress_begin(const char *name);
/** Append the line for @sent of @total bytes after @elapsed_ms, without an end. */
void msd_progress_put(struct msd_buf *out, const char *name, uint64_t sent,
		      uint64_t total, uint64_t elapsed_ms);
/** Show it on standard error, ten times a second at most; a modser_load_options's
 * progress, @progress a struct msd_progress. */
void msd_progress_show(void *progress, uint64_t sent, uint64_t total);

#endif
