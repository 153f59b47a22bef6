#ifndef MSD_WIRE_CLOSER_H
#define MSD_WIRE_CLOSER_H
/*
 * Frees resources on threads outside the loop, because another party chooses how long
 * that takes. close() of a passed descriptor waits for the peer's unsent bytes
 * (SO_LINGER) or for the server of a file system. The time to free the pages of a
 * large segment grows with its size.
 *
 * The threads are those of work.h, of the classes CLOSE and RELEASE. A sleep that
 * nothing ends (a flush that a FUSE server never answers) keeps its thread. So each
 * passer has its own lane, and no more descriptors are read from it while many of its
 * closes are unfinished (msd_closer_is_crowded()). Closes of workers, and of our own
 * sockets and files, do not wait behind those. The exit of the process waits for none.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Close @fd, our own descriptor, whose close() is known to return. Takes ownership.
 * -1 is allowed. Any thread; never blocks. If memory is short, @fd stays open: a
 * descriptor leaks, but the loop does not block.
 */
void msd_closer_close(int fd);
/**
 * Same as msd_closer_close(), for a descriptor of unknown kind that @passer has
 * passed. @passer is any number that identifies a peer.
 */
void msd_closer_close_passed(int fd, uint64_t passer);
/**
 * Same as msd_closer_close(), for our own socket, which may hold unread descriptors of
 * @passer. They are closed with it, and closes for other passers do not wait behind
 * them.
 */
void msd_closer_close_socket(int fd, uint64_t passer);
/**
 * Same as msd_closer_close(), for our own memfd or file, whose close() returns. If
 * memory is short, it is closed on the calling thread.
 */
void msd_closer_close_own(int fd);
/**
 * True if a thread must close every unix socket on kernel @release
 * ("6.1.0-37-amd64"). Before 6.10, close() also closes the contents of unreachable
 * sockets: sockets that any process passed into each other, with all descriptors in
 * them. Later kernels do that on a thread of their own.
 */
bool msd_closer_wants_unix(const char *release);
/**
 * True if so many closes of descriptors of @passer are unfinished that no more may be
 * read from it. The limits are MSD_CLOSER_OF_ONE per passer and a total that leaves
 * room for one read of each other passer. Any thread; cheap while no close waits.
 */
bool msd_closer_is_crowded(uint64_t passer);
/**
 * True if so many closes of our own objects or of workers wait that no new work may
 * add to them: no connection is accepted that may have to be rejected. Any thread.
 */
bool msd_closer_is_behind(void);
/**
 * Tell how many descriptors (@n) the process has for passers. At most a quarter of
 * them, and one read, wait to be closed. 0 means unknown.
 */
void msd_closer_allow(unsigned n);
/** Unmap @bytes at @p. Any thread; blocks only where msd_closer_close() would leak. */
void msd_closer_unmap(void *p, size_t bytes);
/**
 * Same as msd_closer_unmap(), for our own memfd. The pages are freed for all processes
 * that map it.
 */
void msd_closer_discard(void *p, size_t bytes);

#define MSD_CLOSER_BEHIND 1280u      /* unfinished closes in one queue */
#define MSD_CLOSER_THREADS 8u        /* for our own objects, and for workers */
#define MSD_CLOSER_PASSERS 16u       /* more passers share a queue */
#define MSD_CLOSER_PASSED_THREADS 2u /* per queue of passers */
#define MSD_CLOSER_OF_ONE 128u       /* unfinished closes until it is crowded */
#define MSD_CLOSER_AT_ONCE                                                             \
	253u /* descriptors in one read: SCM_MAX_FD of the kernel                      \
	      */
#define MSD_CLOSER_OF_ALL ((MSD_CLOSER_PASSERS + 2) * MSD_CLOSER_AT_ONCE)
#define MSD_CLOSER_WORKERS 0u /* passer number of all workers */

#endif
