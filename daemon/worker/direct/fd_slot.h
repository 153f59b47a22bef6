#ifndef MSD_WORKER_FD_SLOT_H
#define MSD_WORKER_FD_SLOT_H
/*
 * Descriptor numbers for the sockets of direct peers. A sandbox lets the worker wait
 * only on certain descriptors, so these numbers are reserved before it is entered.
 * They are always in use: other threads open files, too, so another open descriptor
 * holds each number between two peers.
 */
#include "daemon/worker/worker.h"

/**
 * Put the socket @fd of direct peer @number, from 1, on its reserved number. Takes
 * @fd unless it returns false. If no numbers are reserved, @fd keeps its own.
 */
MSD_MUST_CHECK bool msd_fd_slot_allocate(struct msd_worker *w, uint16_t number, int fd,
					 struct msd_transport *ret);

#endif
