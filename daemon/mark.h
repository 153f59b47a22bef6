#ifndef MSD_MARK_H
#define MSD_MARK_H
/*
 * Two marks that a process cannot take off, by limits that bound nothing of what it
 * does.
 *
 * Whose a process is: a number that each child of the daemon takes, and all that it
 * starts inherits, by fork and by exec, whatever user it becomes: the hard limit on
 * real-time scheduling, in years. A process may lower it; only a privilege that no
 * module's user has would raise it. From outside that of another user's process may be
 * read, in /proc, and not be set: so the child takes it itself.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MSD_MARK_VARIABLE "MODSERD_MARK" /* of the environment: the mark to take */

/** In a child, before code of others runs: take the mark that the environment has, out
 * of it. None is fine. */
void msd_mark_take(void);
/** The mark of @pid, 0 for this process; false: there is no such process, or, with
 * EMFILE or ENFILE in errno, no descriptor to read it. */
bool msd_mark_of(pid_t pid, uint64_t *ret);

/** This process is in a sandbox from here on, and all that it starts: it has no room
 * for POSIX's queues, which a sandbox refuses anyhow. A limit of 0 can be neither
 * lowered nor, without a privilege, raised. */
void msd_mark_confine(void);
/** Is @pid in one? False: as msd_mark_of(). */
bool msd_mark_is_confined(pid_t pid, bool *ret);

#endif
