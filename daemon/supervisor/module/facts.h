#ifndef MSD_SUPERVISOR_FACTS_H
#define MSD_SUPERVISOR_FACTS_H
/* What a worker said of its module when it opened it: worker.open's result, kept as it
 * is. */
#include "daemon/supervisor/module/crew.h"

/** Check and keep a copy. MSD_PROTOCOL when it is not what CHANNEL.md promises. */
MSD_MUST_CHECK msd_err msd_facts_keep(struct msd_crew *crew, struct msd_span result,
				      struct msd_diag *d);
/** MSD_NOT_FOUND when the module has no such function. */
MSD_MUST_CHECK msd_err msd_facts_check_function(const struct msd_crew *crew,
						struct msd_span name,
						struct msd_diag *d);
/** Append one key's value, nil when it is not there. */
void msd_facts_put(const struct msd_crew *crew, const char *key, struct msd_buf *out);

#endif
