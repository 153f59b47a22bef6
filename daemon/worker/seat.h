#ifndef MSD_WORKER_SEAT_H
#define MSD_WORKER_SEAT_H
/* The number that a guest's socket has. A sandbox lets the worker wait for certain
 * descriptors alone, so these were taken before it began, and are taken always: between
 * two guests by what is open anyhow, for other threads open files, too. */
#include "daemon/worker/worker.h"

/** Guest @number, from 1, is spoken to over @fd, which is taken over unless false is
 * returned. Where no numbers are kept for guests it has its own. */
MSD_MUST_CHECK bool msd_seat_take(struct msd_worker *w, uint16_t number, int fd,
				  struct msd_transport *ret);

#endif
