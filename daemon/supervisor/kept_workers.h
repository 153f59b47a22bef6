#ifndef MSD_SUPERVISOR_KEPT_WORKERS_H
#define MSD_SUPERVISOR_KEPT_WORKERS_H
/* What the service manager has kept of an earlier daemon's workers, for the modules
 * that want them (module/warm.h), and what it is to keep of this one's. */
#include <stdbool.h>

struct msd_house;
struct msd_sd;

/** Take what it hands over out of its store, before any module is begun; unless this
 * daemon @keeps workers that ends them. */
void msd_kept_workers_open(struct msd_house *house, const struct msd_sd *sd,
			   bool keeps);
/** From time to time: when no module is on its way any more, what none has asked for is
 * ended; of whom the manager could not be told, it is told again. */
void msd_kept_workers_settle(struct msd_house *house);
void msd_kept_workers_close(struct msd_house *house);

#endif
