#ifndef MSD_STORE_INSTANT_H
#define MSD_STORE_INSTANT_H
/* Times in manifests: UTC in seconds, "2026-11-22T10:00:00Z", as in RFC 3339. */
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

#define MSD_INSTANT_TEXT 32u /* bytes of its text, including the NUL */

/**
 * Seconds since the epoch; false, and *ret is unchanged, if @text is invalid or
 * before 1970.
 */
MSD_MUST_CHECK bool msd_instant_parse(const char *text, uint64_t *ret);
/** Format a time before the year 10000; returns @ret. */
const char *msd_instant_format(uint64_t seconds, char ret[static MSD_INSTANT_TEXT]);

#endif
