#ifndef MSD_SUPERVISOR_KEPT_OPTIONS_H
#define MSD_SUPERVISOR_KEPT_OPTIONS_H
/* The options of a load, as the store's record of an edition has them. */
#include "store/record.h"

struct msd_load;

/** They are the options of @e, which has no others. Errors: those of
 * msd_edition_add_option(). */
MSD_MUST_CHECK msd_err msd_kept_options_put(const struct msd_load *load,
					    struct msd_edition *e, struct msd_diag *d);

#endif
