#ifndef MSD_CLIENT_HINT_H
#define MSD_CLIENT_HINT_H
/* What to do about an error: one line by its code, or by what was asked for. */
#include "proto/err.h"
#include "proto/method.h"

/** Of BUSY that does not say when: something has to be given up or changed first. */
#define MSD_HINT_NO_TIME "do what the text says; else try again later"

/**
 * The hint for @code as a daemon's answer to @method; MSD_M_COUNT: of this side itself,
 * or to a method that this build does not know. Static storage, never NULL.
 */
const char *msd_hint(enum msd_method method, msd_err code);

#endif
