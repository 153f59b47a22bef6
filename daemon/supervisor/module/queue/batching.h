#ifndef MSD_SUPERVISOR_BATCHING_H
#define MSD_SUPERVISOR_BATCHING_H
/* Limits for joining a module's calls in its workers (daemon/worker/calls/batch.h). */
#include <msgpack.h>

#include "proto/base/diag.h"

#define MSD_MAX_BATCH_ROWS 65536u
#define MSD_MAX_BATCH_WITHIN_MS 10000u

struct msd_batching {
	uint32_t rows;      /* maximum of a joined call; 0: each call runs alone */
	uint32_t within_ms; /* that a call waits for other calls to join */
};

/**
 * Parse the values of --load and the configuration file: rows in digits, a duration.
 * Errors: MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_batching_parse_rows(const char *text, struct msd_batching *b,
					       struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_batching_parse_within(const char *text,
						 struct msd_batching *b,
						 struct msd_diag *d);
/**
 * Read the keys `batch` and `within_ms` of @map, the options of module.load. Errors:
 * MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_batching_read(const msgpack_object *map,
					 struct msd_batching *ret, struct msd_diag *d);
/** Check that both values fit together. Errors: MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_batching_check(const struct msd_batching *b,
					  struct msd_diag *d);

#endif
