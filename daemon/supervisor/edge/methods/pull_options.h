#ifndef MSD_SUPERVISOR_PULL_OPTIONS_H
#define MSD_SUPERVISOR_PULL_OPTIONS_H
/* Options of module.pull, in addition to the name and the URI. */
#include <msgpack.h>

#include "daemon/supervisor/module/life/catalog.h"

struct msd_pull_options {
	bool has_digest; /* no other digest is accepted */
	struct msd_digest digest;
	bool tells_progress;
	struct msd_load
		how; /* load options without a source; the caller sets defaults */
};

/** Parse @map. Errors: MSD_BAD_REQUEST, with the key. */
MSD_MUST_CHECK msd_err msd_pull_options_read(const msgpack_object *map,
					     struct msd_pull_options *ret,
					     struct msd_diag *d);

#endif
