#ifndef MSD_SUPERVISOR_BANS_H
#define MSD_SUPERVISOR_BANS_H
/*
 * Peers and connections that are banned from a module for a while because their calls
 * cost it workers. A loss counts against the peer whose call the worker ran, not
 * against the module:
 *
 *   abandoned call, or deadline exceeded    3 within a minute ban the peer from calls
 *   (deadline set by the client)            that may end a worker in this way
 *   any other: the worker died of it, it    3 within a minute ban the connection from
 *   ran longer than max-run, or its client  all calls; max-deaths of the peer, which
 *   had left while other clients waited     would else quarantine the module, ban it
 *
 * The loss that bans a peer from all calls also counts against the module. A module
 * that dies of every call is given up when calls of many peers have terminated its
 * workers.
 */
#include "daemon/supervisor/module/queue/blame.h"
#include "daemon/supervisor/module/workers/run_limit.h"
#include "proto/base/diag.h"

struct msd_client;
struct msd_module;
struct msd_req;

/**
 * Note that @m lost a worker to a call of @blame, after @ran_ms, for @why;
 * MSD_RUN_GOES_ON: the worker died by itself. Refuses the queued requests of a banned
 * peer or connection. True: the peer is now banned from all calls.
 */
bool msd_bans_note(struct msd_module *m, const struct msd_blame *blame,
		   enum msd_run_end why, uint64_t ran_ms);
/**
 * Check that @c may call @m; with @may_kill, by a call that may terminate a worker.
 * Errors: MSD_BUSY (banned).
 */
MSD_MUST_CHECK msd_err msd_bans_check(const struct msd_module *m,
				      const struct msd_client *c, bool may_kill,
				      struct msd_diag *d);
/** True: @r, which is to be queued, was refused because its client is banned. */
MSD_MUST_CHECK bool msd_bans_refuse(const struct msd_module *m, struct msd_req *r);

#endif
