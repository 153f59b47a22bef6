#ifndef MSD_CLIENT_LOST_WORKER_H
#define MSD_CLIENT_LOST_WORKER_H
/* A worker whose direct channel has ended without a word. Its client knows before the
 * daemon does, and would be lost with it once more by a call through the daemon. */
#include "client/modser.h"

/** Wait until the daemon knows that the only worker of @module, @pid, has ended, a
 * second at most. What it says of the reason @lost says, when that is an error; NULL is
 * fine. */
void msd_lost_worker_await(modser_client *c, const char *module, uint64_t pid,
			   modser_result *lost);

#endif
