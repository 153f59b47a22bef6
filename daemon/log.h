#ifndef MSD_DAEMON_LOG_H
#define MSD_DAEMON_LOG_H
/*
 * The supervisor's log: one event, one line, key=value, to standard error. Values are
 * escaped (proto/utf8.h), so that no peer's byte ends up raw in a log. Level by
 * MODSERD_LOG (error, warn, info, debug; default info). Lines begin with the time, in
 * UTC; under the journal, which has one, with <N>.
 *
 * A thread writes them: whoever reads standard error may stop to. What it does not take
 * is kept up to 64 KiB, then dropped; a line `log-lost` says how many were.
 */
#include <stddef.h>

#include "proto/diag.h"

enum msd_log_level { MSD_LOG_ERROR, MSD_LOG_WARN, MSD_LOG_INFO, MSD_LOG_DEBUG };

/** Read the environment. Errors: MSD_BAD_REQUEST, a level that there is not; then all
 * is as it was. */
MSD_MUST_CHECK msd_err msd_log_init(struct msd_diag *d);
/** Start the thread, which is started with the first line otherwise. Returns 0, or an
 * errno. */
MSD_MUST_CHECK int msd_log_open(void);
/** Wait five seconds at most until all lines are written; before the process ends. */
void msd_log_finish(void);
/** Returns when the line is written, after some milliseconds at the latest; at once
 * while a line before it is still unwritten. Any thread. @event: one word. @fmt:
 * "key=%s ..." of the rest; control bytes in the result are escaped. */
void msd_log(enum msd_log_level level, const char *event, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/** @text for between the quotes of key="%s", where others than a peer's words follow on
 * the line: its quotes and backslashes have a backslash before them. Cut to @cap bytes
 * of @room, which is returned. */
const char *msd_log_quote(const char *text, char *room, size_t cap);

#endif
