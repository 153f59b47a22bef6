#ifndef MSD_SUPERVISOR_MEMORY_SHARE_H
#define MSD_SUPERVISOR_MEMORY_SHARE_H
/*
 * The memory share of a connection: while other connections wait for room in the
 * tensor memory, a connection takes no more than its share of it.
 *
 * The memory of a payload is reserved before it arrives. While other connections
 * wait, payloads that would take longer than limits.read_stall_ms are measured. After
 * MSD_MEMORY_SHARE_PATIENCE_MS such a payload is reduced to its share, or to the
 * received bytes and a little more, and reading continues. When that is full, it queues
 * for the rest. A payload whose received bytes exceed its share cannot be reduced. If
 * it stalls, it is rejected, because only that frees the memory.
 */
#include "daemon/supervisor/edge/session/session.h"

#define MSD_MEMORY_SHARE_PATIENCE_MS 250u

/** Call once for each edge. */
void msd_memory_share_init(struct msd_edge *e);
/** Queue the request that @s receives for room, behind all other waiters. */
void msd_memory_share_wait(struct msd_session *s);
/** Return how many connections of @e wait for room. */
uint64_t msd_memory_share_count_waiting(const struct msd_edge *e);
/**
 * True if the request that @s receives holds more than its share while @n_waiting
 * other connections wait for memory.
 */
bool msd_memory_share_is_pressed(const struct msd_session *s, uint64_t n_waiting);
/**
 * Call msd_call_reserve(), or msd_call_restore() for a reduced request, if the share of
 * @s allows it. MSD_WAIT: call again when room was released.
 */
MSD_MUST_CHECK msd_err msd_memory_share_reserve(struct msd_session *s,
						struct msd_req *r,
						uint64_t payload_bytes,
						struct msd_diag *d);
/**
 * Room was released: place the first waiting body that fits. A waiter that does not
 * fit keeps its position. True: call it again for the others.
 */
bool msd_memory_share_retry(struct msd_edge *e);

#endif
