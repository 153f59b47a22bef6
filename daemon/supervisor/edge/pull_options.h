#ifndef MSD_SUPERVISOR_PULL_OPTIONS_H
#define MSD_SUPERVISOR_PULL_OPTIONS_H
/* What module.pull is told beside a name and a URI. */
#include <msgpack.h>

#include "daemon/supervisor/module/catalog.h"

struct msd_pull_options {
	bool has_digest; /* nothing else is taken */
	struct msd_digest digest;
	bool tells_progress;
	struct msd_load how; /* without its source; the caller's before it is read */
};

/** Read @map. MSD_BAD_REQUEST names the key. */
MSD_MUST_CHECK msd_err msd_pull_options_read(const msgpack_object *map,
					     struct msd_pull_options *ret,
					     struct msd_diag *d);

#endif
