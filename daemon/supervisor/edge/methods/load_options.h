#ifndef MSD_SUPERVISOR_LOAD_OPTIONS_H
#define MSD_SUPERVISOR_LOAD_OPTIONS_H

/* Options of how a module runs, common to all methods that load one: device, workers,
 * era, fill, format, input, tvm_inputs, batch, within_ms, max_run_ms. */

#include <msgpack.h>
#include <msgpack/object.h>

#include "daemon/supervisor/module/life/catalog.h"

/**
 * Read the options from @map; absent ones stay unchanged. Error texts name @method.
 * Errors: MSD_BAD_REQUEST, with the expected value.
 */
MSD_MUST_CHECK msd_err msd_load_options_read(const msgpack_object *map,
					     const char *method, struct msd_load *ret,
					     struct msd_diag *d);

/* Options of module.pull, in addition to the name and the URI. */

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
