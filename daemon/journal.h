#ifndef MSD_DAEMON_JOURNAL_H
#define MSD_DAEMON_JOURNAL_H
/*
 * Lines of the log as entries of systemd's journal, with their values as fields of
 * their own: `journalctl MODSERD_EVENT=restart MODSERD_MODULE=resnet`. Source:
 * systemd's "Native Journal Protocol".
 */
#include <stdbool.h>
#include <stddef.h>

/** Whether standard error is the journal's, as $JOURNAL_STREAM says. */
bool msd_journal_is_there(void);
/**
 * The entry of @line, "<N>event=word key=value key="value" ... why="...""; nothing
 * follows `why`. Each key is a field MODSERD_KEY, once; that of `name`, which is a
 * module's, MODSERD_MODULE. Returns its bytes in @ret; 0: it is no such line, or has no
 * room.
 */
size_t msd_journal_entry(const char *line, size_t n, char *ret, size_t cap);
/** Hand @line over, without its end. False: it was not taken. May block until the
 * journal reads. One thread. */
bool msd_journal_send(const char *line, size_t n);

#endif
