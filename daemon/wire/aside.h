#ifndef MSD_WIRE_ASIDE_H
#define MSD_WIRE_ASIDE_H
/*
 * What is given back aside, on threads beside the loop, for it may sleep as long as
 * somebody else chose: close() of a descriptor that a peer passed waits for the peer's
 * unsent bytes (SO_LINGER) or for the server of a file system, and pages of a large
 * segment are freed in time that grows with it.
 *
 * Threads are started when there is something to do and end when there is nothing. The
 * end of the process waits for none of them.
 */
#include <stdbool.h>
#include <stddef.h>

/** Close @fd, which is the thread's from here on. -1 is fine. Any thread; never blocks.
 * When MSD_ASIDE_MAX others wait already, behind as many closes that do not end as
 * there may be threads, it is left open: a descriptor is lost, not the loop. */
void msd_aside_close(int fd);
/** The same of a memfd or file of our own, whose close ends: where it would be left
 * open it is closed here. */
void msd_aside_close_own(int fd);
/**
 * Is the close() of every unix socket to be left to a thread, on a kernel that calls
 * itself @release ("6.1.0-37-amd64")? Before 6.10 it closes what lies in sockets that
 * nobody can reach any more, too: those that were passed into each other by anybody,
 * with whatever was passed beside them. Later ones leave that to a thread of their own.
 */
bool msd_aside_wants_unix(const char *release);
/** So many closes wait that nothing should be read that may bring more: one read brings
 * 253 descriptors at most. The loop's thread; cheap. */
bool msd_aside_is_crowded(void);
/** Unmap @bytes at @p. Any thread; blocks only where msd_aside_close() would give up.
 */
void msd_aside_unmap(void *p, size_t bytes);
/** The same of a memfd of our own whose pages go for all who have it mapped, too. */
void msd_aside_discard(void *p, size_t bytes);

#define MSD_ASIDE_MAX 1024u
#define MSD_ASIDE_THREADS 16u

#endif
