#ifndef MSD_SUPERVISOR_BARS_H
#define MSD_SUPERVISOR_BARS_H
/*
 * Who may not call a module for a while, because calls of theirs cost it workers. A
 * loss counts against the peer whose call the worker ran, not against the module:
 *
 *   the call was left, or overran its       3 within a minute bar the peer from calls
 *   deadline, as its client had said        that may end a worker in this way
 *   any other: the worker died of it, it    3 within a minute bar the connection from
 *   ran longer than max-run, or nobody      all calls, and max-deaths of the peer,
 * which waited for it and others did            would quarantine the module else, the
 * peer
 *
 * The loss that bars a peer from all calls counts against the module, too: a module
 * that dies of every call is given up when it has died of many peers' calls.
 */
#include "daemon/supervisor/module/blame.h"
#include "daemon/supervisor/module/run_step.h"
#include "proto/diag.h"

struct msd_client;
struct msd_module;
struct msd_req;

/** A worker of @m was lost to a call of @blame, after @ran_ms, for @why; GOES_ON: it
 * died by itself. What a barred one has queued is refused. True: its peer is barred
 * from all calls now. */
bool msd_bars_note(struct msd_module *m, const struct msd_blame *blame,
		   enum msd_run_end why, uint64_t ran_ms);
/** Whether @c may call @m: at all, or, when @may_kill, by a call that may end a worker.
 * MSD_BUSY. */
MSD_MUST_CHECK msd_err msd_bars_check(const struct msd_module *m,
				      const struct msd_client *c, bool may_kill,
				      struct msd_diag *d);
/** @r, which is to be queued, was refused, because its client is barred. */
MSD_MUST_CHECK bool msd_bars_refuse(const struct msd_module *m, struct msd_req *r);

#endif
