#ifndef MSD_SUPERVISOR_LOAD_OPTIONS_H
#define MSD_SUPERVISOR_LOAD_OPTIONS_H
/* How a module is run, as every method that brings one is told: device, workers, era,
 * fill, format, input, tvm_inputs, batch, within_ms, max_run_ms. */
#include <msgpack/object.h>

#include "daemon/supervisor/module/catalog.h"

/** Read them from @map; what is absent stays as it is. @method stands in texts. Errors:
 * MSD_BAD_REQUEST, saying what was expected. */
MSD_MUST_CHECK msd_err msd_load_options_read(const msgpack_object *map,
					     const char *method, struct msd_load *ret,
					     struct msd_diag *d);

#endif
