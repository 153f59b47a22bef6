#ifndef MSD_WORKER_PINS_H
#define MSD_WORKER_PINS_H
/*
 * Segments of a worker whose module is on a device that copies from and to host memory
 * directly: pinned from the moment on that they and the device are there. Neither side
 * may make holes in them then: this one does not (msd_segpool.is_pinned), and the
 * supervisor knows from the module's device (worker.open's reply). Of host modules
 * nothing is pinned.
 */
#include "daemon/worker/worker.h"

/** The module has been placed: pin what every peer has, when its device wants that. */
void msd_pins_start(struct msd_worker *w);
/** @peer has a new segment, in (@is_in) or out. */
void msd_pins_add(struct msd_peer *peer, bool is_in, uint16_t index, uint64_t bytes);
/** Before that segment is unmapped. */
void msd_pins_remove(struct msd_peer *peer, bool is_in, uint16_t index);
/** Before all of @peer's are. */
void msd_pins_finish(struct msd_peer *peer);

#endif
