#ifndef MSD_WIRE_ASIDE_H
#define MSD_WIRE_ASIDE_H
/*
 * What is given back aside, on threads beside the loop, for it may sleep as long as
 * somebody else chose: close() of a descriptor that a peer passed waits for the peer's
 * unsent bytes (SO_LINGER) or for the server of a file system, and pages of a large
 * segment are freed in time that grows with it.
 *
 * A sleep that a signal ends (SO_LINGER, a serial line) ends after MSD_ASIDE_WAKE_US.
 * One that nothing ends (a flush that a FUSE server never answers) keeps its thread; so
 * whoever passes descriptors has threads and a queue of its own, and brings no more of
 * them while many of its closes have not ended (msd_aside_is_crowded()). Those of
 * workers, sockets and files of our own do not wait behind those.
 *
 * Threads are started when there is something to do and end when there is nothing. The
 * end of the process waits for none of them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/err.h"

/** Start a thread for what is our own, which stays: where its user has no thread left,
 * memory is given back all the same. Returns 0, or an errno. Without it threads are
 * started as they are wanted. */
MSD_MUST_CHECK int msd_aside_open(void);
/** Close @fd, of our own and known to end, which is the thread's from here on. -1 is
 * fine. Any thread; never blocks. When memory is short it is left open: a descriptor is
 * lost, not the loop. */
void msd_aside_close(int fd);
/** The same of a descriptor that @passer, any number that stands for somebody, has
 * passed, and of which nobody knows what it is. */
void msd_aside_close_passed(int fd, uint64_t passer);
/** The same of a socket of our own in which unread descriptors may lie that @passer has
 * passed: they are closed with it, and nobody else's waits behind them. */
void msd_aside_close_socket(int fd, uint64_t passer);
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
/** So many closes of what @passer has passed have not ended that nothing should be read
 * that brings more: MSD_ASIDE_OF_ONE of its own, or what all have would be in the way
 * of one read of each passer that may still come. Any thread; cheap while nothing
 * waits. */
bool msd_aside_is_crowded(uint64_t passer);
/** So much of what is our own, or of workers, waits that nothing should begin which
 * brings more: no connection be accepted that may have to be turned away. Any thread.
 */
bool msd_aside_is_behind(void);
/** The process has @n descriptors for passers: no more than a quarter of them, and one
 * read, wait to be closed. 0: it is not known. */
void msd_aside_allow(unsigned n);
/** Unmap @bytes at @p. Any thread; blocks only where msd_aside_close() would give up.
 */
void msd_aside_unmap(void *p, size_t bytes);
/** The same of a memfd of our own whose pages go for all who have it mapped, too. */
void msd_aside_discard(void *p, size_t bytes);

#define MSD_ASIDE_BEHIND 1280u      /* in one queue */
#define MSD_ASIDE_THREADS 8u        /* of what is our own, and of workers */
#define MSD_ASIDE_PASSERS 16u       /* more share a queue */
#define MSD_ASIDE_PASSED_THREADS 2u /* of each that is no worker */
#define MSD_ASIDE_OF_ONE 128u  /* closes that have not ended, until it is crowded */
#define MSD_ASIDE_AT_ONCE 253u /* that one read can bring: SCM_MAX_FD of the kernel */
#define MSD_ASIDE_OF_ALL ((MSD_ASIDE_PASSERS + 2) * MSD_ASIDE_AT_ONCE)
#define MSD_ASIDE_WAKE_US 500u
#define MSD_ASIDE_WORKERS 0u /* the passer that all workers are */

#endif
