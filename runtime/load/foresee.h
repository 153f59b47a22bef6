#ifndef MSD_RUNTIME_LOAD_FORESEE_H
#define MSD_RUNTIME_LOAD_FORESEE_H
/* What can be told of an artifact before any of it is opened. */
#include "proto/bytes.h"
#include "proto/dtype.h"
#include "proto/era_word.h"

/** The device that @file will be placed on when nobody names one: the first that it has
 * code for. The CPU for what has none, and for what cannot be loaded. */
struct msd_device msd_foresee_device(struct msd_span file, enum msd_era_word era);

#endif
