#ifndef MSD_SUPERVISOR_RUN_LIMIT_H
#define MSD_SUPERVISOR_RUN_LIMIT_H
/* How long a call of a module may run (max-run), where its load says another time than
 * the daemon has. All zeros say none. */
#include <msgpack.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/diag.h"

struct msd_run_limit {
	bool is_said;
	uint32_t ms; /* 0: as long as it likes */
};

/** What holds, when the daemon has @all_ms. */
static inline uint64_t msd_run_limit_ms(struct msd_run_limit own, uint64_t all_ms)
{
	return own.is_said ? own.ms : all_ms;
}
/** As --load and a configuration file have it: a duration. MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_run_limit_parse(const char *text, struct msd_run_limit *ret,
					   struct msd_diag *d);
/** The key `max_run_ms` of @map, the options of module.load, if it is there.
 * MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_run_limit_read(const msgpack_object *map,
					  struct msd_run_limit *ret,
					  struct msd_diag *d);

#endif
