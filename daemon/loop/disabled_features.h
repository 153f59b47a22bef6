#ifndef MSD_WIRE_DISABLED_FEATURES_H
#define MSD_WIRE_DISABLED_FEATURES_H
#include <stdbool.h>

/**
 * True if the comma-separated list MODSERD_WITHOUT names @what: an optimisation, or
 * the counting of calls, that this process disables. For measurements and tests;
 * results stay the same.
 */
bool msd_feature_is_disabled(const char *what);

#endif
