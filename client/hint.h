#ifndef MSD_CLIENT_HINT_H
#define MSD_CLIENT_HINT_H
/* Advice for an error: one line, chosen by its code or by the method. */
#include "proto/base/err.h"
#include "proto/method.h"

/** For a BUSY without a retry time: the user must first free or change something. */
#define MSD_HINT_NO_TIME "follow the text; else try again later"

/**
 * The hint for @code as a daemon's answer to @method. MSD_M_COUNT: an error of the
 * client itself, or a method that this build does not know. Static storage, never
 * NULL.
 */
const char *msd_hint(enum msd_method method, msd_err code);

#endif
