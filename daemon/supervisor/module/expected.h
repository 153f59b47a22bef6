#ifndef MSD_SUPERVISOR_EXPECTED_H
#define MSD_SUPERVISOR_EXPECTED_H
/* The modules that a daemon was started for, by their names: those that there are when
 * all has been begun. What comes and goes later does not make it less ready. */
#include <stdbool.h>
#include <stdint.h>

#include "proto/diag.h"

struct msd_house;
struct msd_module;

/** They are those that @house has now. Once. MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_expected_take(struct msd_house *house, struct msd_diag *d);
/** A call of @m is served now: it is READY, or ASLEEP until one comes. */
bool msd_expected_serves(const struct msd_module *m);
/** The module @name when it serves; NULL: it does not, or there is none. */
const struct msd_module *msd_expected_find(struct msd_house *house, const char *name);
/** How many of @house's serve. */
uint32_t msd_expected_count_ready(struct msd_house *house);
/** All that the daemon was started for is served, and it is not about to end. */
bool msd_expected_all_ready(struct msd_house *house);
void msd_expected_finish(struct msd_house *house);

#endif
