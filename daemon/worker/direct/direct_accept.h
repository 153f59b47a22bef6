#ifndef MSD_WORKER_DIRECT_ACCEPT_H
#define MSD_WORKER_DIRECT_ACCEPT_H

/* Admits and removes direct peers (direct_peer.h): by worker.peer, and at the end of
 * their sockets. */

#include "daemon/worker/worker.h"

/**
 * Handle worker.peer from the supervisor, whose channel is @channel: admit a direct
 * peer. Errors: MSD_PROTOCOL, the supervisor broke its contract.
 */
MSD_MUST_CHECK msd_err msd_direct_accept_open(struct msd_peer *channel,
					      struct msd_span params,
					      struct msd_diag *d);
/**
 * Map the supervisor's ledger page of @bytes, for statistics of direct peers. Errors:
 * MSD_PROTOCOL.
 */
MSD_MUST_CHECK msd_err msd_direct_accept_set_ledger(struct msd_peer *channel,
						    uint64_t bytes, struct msd_diag *d);
/** The channel is closed: close all direct peers, which depend on it. */
void msd_direct_accept_end(struct msd_worker *w);
/**
 * Resume reading from a peer that has read its replies; close a leaving peer after
 * its last reply.
 */
void msd_direct_accept_look(struct msd_peer *peer);

/*
 * Descriptor numbers for the sockets of direct peers. A sandbox lets the worker wait
 * only on certain descriptors, so these numbers are reserved before it is entered.
 * They are always in use: other threads open files, too, so another open descriptor
 * holds each number between two peers.
 */

/**
 * Put the socket @fd of direct peer @number, from 1, on its reserved number. Takes
 * @fd unless it returns false. If no numbers are reserved, @fd keeps its own.
 */
MSD_MUST_CHECK bool msd_fd_slot_allocate(struct msd_worker *w, uint16_t number, int fd,
					 struct msd_transport *ret);

#endif
