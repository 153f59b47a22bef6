#ifndef MSD_PROTO_DURATION_H
#define MSD_PROTO_DURATION_H
/* Durations with a unit: 50ms, 1.5s, 2m, 1h. A bare number is ambiguous between
 * seconds and milliseconds, so it is refused, except 0. */
#include <stdint.h>

#include "proto/base/diag.h"

#define MSD_DURATION_TEXT_MAX 32u

/**
 * Read @text into *@ret_ms, rounded up to whole milliseconds.
 *
 * Errors: MSD_BAD_REQUEST; the text names both possible meanings of a bare number.
 */
MSD_MUST_CHECK msd_err msd_duration_parse(const char *text, uint64_t *ret_ms,
					  struct msd_diag *d);
/** The same in whole microseconds; the unit us is allowed: 50us. */
MSD_MUST_CHECK msd_err msd_duration_parse_us(const char *text, uint64_t *ret_us,
					     struct msd_diag *d);
/** Write @ms in the largest unit that divides it; returns @ret. */
const char *msd_duration_format(uint64_t ms, char ret[MSD_DURATION_TEXT_MAX]);
const char *msd_duration_format_us(uint64_t us, char ret[MSD_DURATION_TEXT_MAX]);

#endif
