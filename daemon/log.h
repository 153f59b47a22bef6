#ifndef MSD_DAEMON_LOG_H
#define MSD_DAEMON_LOG_H
/*
 * The supervisor's log: one line of key=value per event, to standard error. Values
 * are escaped (proto/base/utf8.h), so no raw byte of a peer gets into a log. Level by
 * MODSERD_LOG (error, warn, info, debug; default info). Lines begin with the UTC
 * time; under the journal, which has its own time, with <N>.
 *
 * A thread writes the lines, because the reader of standard error may stall. Up to 64
 * KiB are buffered; further lines are dropped. A line `log_lost` reports their
 * number.
 */
#include "proto/base/diag.h"

enum msd_log_level { MSD_LOG_ERROR, MSD_LOG_WARN, MSD_LOG_INFO, MSD_LOG_DEBUG };

/**
 * Read the environment. Errors: MSD_BAD_REQUEST for an unknown level; then nothing
 * changes.
 */
MSD_MUST_CHECK msd_err msd_log_init(struct msd_diag *d);
/** Start the thread; otherwise the first line starts it. Returns 0, or an errno. */
MSD_MUST_CHECK int msd_log_open(void);
/** Wait up to five seconds until all lines are written; call before exit. */
void msd_log_finish(void);
/**
 * Log a line. Returns when it is written, or after some milliseconds; at once if an
 * earlier line is still unwritten. Any thread. @event: one token. @fmt: "key=%s ..."
 * for the rest, with %s, %.*s, %d, %u and %llu. Quotes and backslashes of a text for
 * key="%s" are escaped, and control bytes everywhere.
 */
void msd_log(enum msd_log_level level, const char *event, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
