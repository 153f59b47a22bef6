#ifndef MSD_SUPERVISOR_CALL_LOG_DUMP_H
#define MSD_SUPERVISOR_CALL_LOG_DUMP_H
/*
 * Write the call log to the daemon's log: all of it on SIGUSR1, and the last calls of
 * a module when one of its workers has died. The log buffers little and drops the
 * rest, so the dump keeps to its pace.
 */
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/workers/worker_group.h"

/**
 * Write all calls that are kept now, on later iterations. No-op while a dump is
 * running.
 */
void msd_call_log_dump_tell(struct msd_module_registry *registry);
/**
 * A worker of @group has died, and its requests are answered: write the last calls of
 * its module. At most once a second in total.
 */
void msd_call_log_dump_tell_lost(const struct msd_worker_group *group);

#endif
