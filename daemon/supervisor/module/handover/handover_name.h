#ifndef MSD_SUPERVISOR_HANDOVER_NAME_H
#define MSD_SUPERVISOR_HANDOVER_NAME_H
/*
 * The name of a worker in the service manager, across a restart of the daemon. The
 * manager returns the name with the worker's descriptors, and only the daemon can
 * have set it. So it has all data that must be trusted: the process, its control
 * group, and a digest of its start options.
 *
 *   modserd-worker.PID.GROUP.KEY      numbers in decimal, the key in 64 digits
 */
#include <sys/types.h>

#include "store/digest.h"

#define MSD_HANDOVER_PREFIX "modserd-worker."
#define MSD_HANDOVER_NAME_BYTES 128u /* with its NUL */

struct msd_handover_name {
	pid_t pid;
	uint64_t group; /* number of its control group; 0: none */
	struct msd_digest key;
};

void msd_handover_name_format(const struct msd_handover_name *name,
			      char ret[static MSD_HANDOVER_NAME_BYTES]);
/**
 * Parse a name. False, with *ret unchanged: @text does not have exactly the written
 * form.
 */
MSD_MUST_CHECK bool msd_handover_name_parse(struct msd_span text,
					    struct msd_handover_name *ret);

#endif
