#ifndef MSD_DAEMON_JOURNAL_H
#define MSD_DAEMON_JOURNAL_H
/*
 * Send log lines to systemd's journal, with their values as fields: `journalctl
 * MODSERD_EVENT=restart MODSERD_MODULE=resnet`. Source: systemd's "Native Journal
 * Protocol".
 */
#include <stdbool.h>
#include <stddef.h>

/** True if standard error goes to the journal, according to $JOURNAL_STREAM. */
bool msd_journal_is_there(void);
/**
 * Convert @line, "<N>event=word key=value key="value" ... why="..."", to a journal
 * entry; `why` is always last. Each key becomes a field MODSERD_KEY, only once;
 * `name`, the module name, becomes MODSERD_MODULE. Returns the number of bytes in
 * @ret; 0 if the line has another form or does not fit.
 */
size_t msd_journal_entry(const char *line, size_t n, char *ret, size_t cap);
/**
 * Send @line without its newline. False if the journal did not take it. May block
 * until the journal reads. Call from one thread.
 */
bool msd_journal_send(const char *line, size_t n);

#endif
