#ifndef MSD_MARK_H
#define MSD_MARK_H
/*
 * Two marks that a process cannot take off, by limits that bound nothing of what it
 * does.
 *
 * Whose a process is: two numbers that each child of the daemon takes, and all that it
 * starts inherits, by fork and by exec, whatever user it becomes: the hard limits on
 * real-time scheduling, in years, and on file locks, which no kernel since 2.4 looks
 * at. A process may lower them; only a privilege that no module's user has would raise
 * them. Of a later child one is lower and the other higher, so that nobody can take the
 * mark of another. From outside those of another user's process may be read, in /proc,
 * and not be set: so the child takes them itself.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MSD_MARK_VARIABLE "MODSERD_MARK" /* of the environment: the mark to take */

struct msd_mark {
	uint64_t falls, rises; /* from child to child */
};

static inline bool msd_mark_is(struct msd_mark a, struct msd_mark b)
{
	return a.falls == b.falls && a.rises == b.rises;
}

/** In a child, before code of others runs: take the mark that the environment has, out
 * of it. None is fine. */
void msd_mark_take(void);
/** The mark of @pid, 0 for this process; false: there is no such process, or, with
 * EMFILE or ENFILE in errno, no descriptor to read it. */
bool msd_mark_of(pid_t pid, struct msd_mark *ret);

/** This process is in a sandbox from here on, and all that it starts: it has no room
 * for POSIX's queues, which a sandbox refuses anyhow. A limit of 0 can be neither
 * lowered nor, without a privilege, raised. */
void msd_mark_confine(void);
/** Is @pid in one? False: as msd_mark_of(). */
bool msd_mark_is_confined(pid_t pid, bool *ret);

#endif
