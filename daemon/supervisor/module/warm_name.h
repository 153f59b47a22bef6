#ifndef MSD_SUPERVISOR_WARM_NAME_H
#define MSD_SUPERVISOR_WARM_NAME_H
/*
 * What a worker is called that the service manager keeps over a restart of the daemon:
 * the manager gives the name back with the worker's descriptors, and nobody but the
 * daemon can have told it. So all that must be believed of a worker stands in it: which
 * process it is, in which control group, and a digest of everything that it was started
 * for.
 *
 *   modserd-worker.PID.GROUP.KEY      numbers in decimal, the key in 64 digits
 */
#include <sys/types.h>

#include "store/digest.h"

#define MSD_WARM_PREFIX "modserd-worker."
#define MSD_WARM_NAME_BYTES 128u /* with its NUL */

struct msd_warm_name {
	pid_t pid;
	uint64_t group; /* the number of its control group; 0: it has none */
	struct msd_digest key;
};

void msd_warm_name_format(const struct msd_warm_name *name,
			  char ret[static MSD_WARM_NAME_BYTES]);
/** False, *ret unchanged, when @text is no such name in just the form in which it is
 * written. */
MSD_MUST_CHECK bool msd_warm_name_parse(struct msd_span text,
					struct msd_warm_name *ret);

#endif
