#ifndef MSD_SUPERVISOR_RUN_LIMIT_H
#define MSD_SUPERVISOR_RUN_LIMIT_H
/* Time limit for a call of a module (max-run), if its load sets another limit than
 * the daemon's. All zeros: not set. */
#include <msgpack.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/diag.h"

struct msd_run_limit {
	bool is_said;
	uint32_t ms; /* 0: unlimited */
};

/** Return the effective limit; @all_ms is the daemon's. */
static inline uint64_t msd_run_limit_ms(struct msd_run_limit own, uint64_t all_ms)
{
	return own.is_said ? own.ms : all_ms;
}
/**
 * Parse the value of --load and the configuration file: a duration. Errors:
 * MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_run_limit_parse(const char *text, struct msd_run_limit *ret,
					   struct msd_diag *d);
/**
 * Read the key `max_run_ms` of @map, the options of module.load, if it exists.
 * Errors: MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_run_limit_read(const msgpack_object *map,
					  struct msd_run_limit *ret,
					  struct msd_diag *d);

#endif
