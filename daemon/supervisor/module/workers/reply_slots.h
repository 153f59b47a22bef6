#ifndef MSD_SUPERVISOR_REPLY_SLOTS_H
#define MSD_SUPERVISOR_REPLY_SLOTS_H
/* Out slots of a worker that a reply in flight points into. They are released
 * together when its last byte is sent or its client is gone. */
#include "daemon/supervisor/module/workers/process.h"

struct msd_reply_slots;

/** Create an empty list for slots of @p, with room for @n; NULL: out of memory. */
struct msd_reply_slots *msd_reply_slots_new(struct msd_process *p, uint32_t n);
/**
 * Add @bytes at @offset of @segment; *@ret is their address. Errors: MSD_PROTOCOL
 * (not a valid place, in use by another reply, or too many slots).
 */
MSD_MUST_CHECK msd_err msd_reply_slots_add(struct msd_reply_slots *h, uint16_t segment,
					   uint64_t offset, uint64_t bytes,
					   const uint8_t **ret, struct msd_diag *d);
/** Return the number of slots. */
uint32_t msd_reply_slots_count(const struct msd_reply_slots *h);
/**
 * Release all slots and free @held: its msd_out.on_done. If the reply was not @sent,
 * they are released within the next milliseconds.
 */
void msd_reply_slots_end(void *held, bool sent);

#endif
