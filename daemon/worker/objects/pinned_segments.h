#ifndef MSD_WORKER_PINNED_SEGMENTS_H
#define MSD_WORKER_PINNED_SEGMENTS_H
/*
 * Pins segments in memory, if the module's device copies from and to host memory
 * directly. They are pinned as soon as both segment and device exist. Then neither
 * side may make holes in them: the worker does not (msd_segpool.is_pinned), and the
 * supervisor knows it from the module's device (reply to worker.open). Nothing is
 * pinned for host modules.
 */
#include "daemon/worker/worker.h"

/**
 * The module has been placed: pin all segments of every peer, if its device needs it.
 */
void msd_pinned_segments_start(struct msd_worker *w);
/** @peer has a new segment, in (@is_in) or out. */
void msd_pinned_segments_add(struct msd_peer *peer, bool is_in, uint16_t index,
			     uint64_t bytes);
/** Call before that segment is unmapped. */
void msd_pinned_segments_remove(struct msd_peer *peer, bool is_in, uint16_t index);
/** Call before all segments of @peer are unmapped. */
void msd_pinned_segments_finish(struct msd_peer *peer);

#endif
