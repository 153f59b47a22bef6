#ifndef MSD_CLIENT_DIRECT_H
#define MSD_CLIENT_DIRECT_H
/* modser_open_direct() in two steps; other requests may run between them. */
#include "client/modser.h"
#include "proto/base/err.h"

/**
 * Request a channel to a worker of @module. The answer, to request @ret_id, is for
 * msd_direct_open_channel(). @deadline_ms: 0 means none. Errors: as modser_start().
 */
MSD_MUST_CHECK modser_err msd_direct_ask(modser_client *c, const char *module,
					 uint32_t deadline_ms, uint64_t *ret_id);
/**
 * Create a client from the descriptor of that answer, @r. *@ret_workers is the
 * module's number of workers; 0: an older daemon that does not report it. On failure
 * *@ret is unchanged.
 */
MSD_MUST_CHECK modser_err msd_direct_open_channel(modser_client *c, modser_result *r,
						  modser_client **ret,
						  uint64_t *ret_workers);
/** There is no result for that answer: close the descriptor that arrived with it. */
void msd_direct_drop(modser_client *c);

#endif
