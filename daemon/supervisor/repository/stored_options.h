#ifndef MSD_SUPERVISOR_STORED_OPTIONS_H
#define MSD_SUPERVISOR_STORED_OPTIONS_H
/* Convert the options of a load to the form in the store's record of an edition. */
#include "store/record.h"

struct msd_load;

/**
 * Add the options of @load to @e, which must have no options yet. Errors: those of
 * msd_edition_add_option().
 */
MSD_MUST_CHECK msd_err msd_stored_options_put(const struct msd_load *load,
					      struct msd_edition *e,
					      struct msd_diag *d);

#endif
