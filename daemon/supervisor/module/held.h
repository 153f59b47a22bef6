#ifndef MSD_SUPERVISOR_HELD_H
#define MSD_SUPERVISOR_HELD_H
/*
 * Out slots of a worker that a reply in flight points into. They are given back
 * together, when its last byte is out or its client gone.
 */
#include "daemon/supervisor/module/process.h"

struct msd_held;

/** Of @p, with room for @n slots, none so far; NULL: memory is short. */
struct msd_held *msd_held_new(struct msd_process *p, uint32_t n);
/** One more: @bytes at @offset of @segment, whose address is *@ret. MSD_PROTOCOL when
 * that is no place, another reply has it, or there is no room for so many. */
MSD_MUST_CHECK msd_err msd_held_add(struct msd_held *h, uint16_t segment,
				    uint64_t offset, uint64_t bytes,
				    const uint8_t **ret, struct msd_diag *d);
/** How many there are. */
uint32_t msd_held_count(const struct msd_held *h);
/** Give all back: msd_out.on_done of @held, which is gone then. What was not @sent is
 * given back within the next milliseconds. */
void msd_held_end(void *held, bool sent);

#endif
