#ifndef MSD_SUPERVISOR_HANDOVER_WORKERS_H
#define MSD_SUPERVISOR_HANDOVER_WORKERS_H
/* Take over workers of an earlier daemon that the service manager kept, for modules
 * that can use them (daemon/supervisor/module/handover/handover.h). Give it this
 * daemon's workers to keep. */
#include <stdbool.h>

struct msd_module_registry;
struct msd_sd;

/**
 * Take the kept descriptors out of the manager's store, before any module is loaded.
 * If this daemon does not keep workers (@keeps is false), terminate the kept workers.
 */
void msd_handover_workers_open(struct msd_module_registry *registry,
			       const struct msd_sd *sd, bool keeps);
/**
 * Call it periodically. If no module is loading, it terminates kept workers that no
 * module asked for. It also stores workers again that the manager did not accept
 * before.
 */
void msd_handover_workers_settle(struct msd_module_registry *registry);
void msd_handover_workers_close(struct msd_module_registry *registry);

#endif
