#ifndef MSD_MARK_H
#define MSD_MARK_H
/*
 * Two marks that a process cannot remove, stored in resource limits that have no
 * effect.
 *
 * Ownership: each child of the daemon sets two numbers, which all its descendants
 * inherit by fork and exec, under any user. They are the hard limits on real-time CPU
 * time, with values of years, and on file locks, which Linux has ignored since 2.4. A
 * process may lower them; raising them needs a privilege that a module's user lacks.
 * For each later child one number is lower and the other higher, so no process can
 * set the mark of another. The limits of another user's process can be read in /proc
 * but not set, so each child sets its own.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MSD_MARK_VARIABLE "MODSERD_MARK" /* environment variable of the mark */

struct msd_mark {
	uint64_t falls, rises; /* with each new child */
};

static inline bool msd_mark_is(struct msd_mark a, struct msd_mark b)
{
	return a.falls == b.falls && a.rises == b.rises;
}

/**
 * In a child, before foreign code runs: set the mark from the environment, and remove
 * the variable. No mark is valid, too.
 */
void msd_mark_set(void);
/**
 * The mark of @pid, 0 for this process. False if the process does not exist, or, with
 * EMFILE or ENFILE in errno, if no descriptor is free to read it.
 */
bool msd_mark_of(pid_t pid, struct msd_mark *ret);

/**
 * Mark this process and its descendants as sandboxed: no memory for POSIX message
 * queues, which a sandbox denies anyway. A limit of 0 cannot be lowered, and raising
 * it needs a privilege.
 */
void msd_mark_confine(void);
/** Test whether @pid is sandboxed. Returns false as msd_mark_of() does. */
bool msd_mark_is_confined(pid_t pid, bool *ret);

#endif
