#ifndef MSD_SUPERVISOR_BUSY_H
#define MSD_SUPERVISOR_BUSY_H
/* Since when a module's workers are busy with what they run, for people and for who
 * asks whether it is ready. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/supervisor/module/crew.h"
#include "daemon/supervisor/module/replica.h"

/** For how long @rep has run what it runs, in *@ret_ms. False: it runs nothing. */
bool msd_busy_worker(const struct msd_replica *rep, uint64_t *ret_ms);
/** The longest of all workers of @crew. False: none of them runs anything. */
bool msd_busy_longest(const struct msd_crew *crew, uint64_t *ret_ms);
/** A worker of @crew is ended for what it ran for @ran_ms: until one answers, it has
 * not answered since that was begun. */
void msd_busy_note_end(struct msd_crew *crew, uint64_t ran_ms);
/** All its workers are busy, and none has answered for longer than max-run lets a call
 * run, that of *@ret_ms. */
bool msd_busy_is_hung(const struct msd_crew *crew, uint64_t *ret_ms);

#endif
