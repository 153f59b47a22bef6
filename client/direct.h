#ifndef MSD_CLIENT_DIRECT_H
#define MSD_CLIENT_DIRECT_H
/* modser_open_direct() in two steps, with others' requests between them. */
#include "client/modser.h"
#include "proto/err.h"

/** Ask for a channel to a worker of @module: its answer, the request @ret_id, is for
 * msd_direct_take(). @deadline_ms: 0, none. As modser_start(). */
MSD_MUST_CHECK modser_err msd_direct_ask(modser_client *c, const char *module,
					 uint32_t deadline_ms, uint64_t *ret_id);
/** Make a client of what came with that answer, @r. *@ret_workers is how many the
 * module has; 0: an older daemon, which does not say. On failure *@ret is unchanged. */
MSD_MUST_CHECK modser_err msd_direct_take(modser_client *c, modser_result *r,
					  modser_client **ret, uint64_t *ret_workers);
/** That answer cannot be had: what came with it is closed. */
void msd_direct_drop(modser_client *c);

#endif
