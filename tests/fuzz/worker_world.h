#ifndef MSD_TESTS_FUZZ_WORKER_WORLD_H
#define MSD_TESTS_FUZZ_WORKER_WORLD_H
/* A worker in this process that has a module open, and what its peers say and hear. */
#include <uv.h>

#include "daemon/worker/worker.h"

/* A frame from the world: its body, and the bytes that come behind it. */
struct world_frame {
	struct msd_span body;
	uint64_t payload_bytes;
	int fd; /* passed along; -1: none */
};

extern struct msd_worker world_worker;
/** True if no peer has a request that waits. */
bool world_is_idle(void);

/** Once: the worker opens its module, as the supervisor asks on the real channel.
 * Returns that channel's other end. */
int world_begin(void);
void world_send_bytes(int to, const uint8_t *p, size_t n, int fd);
void world_send(int to, const struct world_frame *f);
/** Some turns of its loop; @said gets what it says to @from meanwhile. */
void world_turn(int from, struct msd_buf *said);
/** The next whole frame of @said is taken into *@ret, bytes of @said that are valid
 * until it grows; false: there is none. */
bool world_take(struct msd_buf *said, size_t *at, struct msd_body *ret);
/** Drop what was taken. */
void world_drop(struct msd_buf *said, size_t *at);

#endif
