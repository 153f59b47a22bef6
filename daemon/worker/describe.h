#ifndef MSD_WORKER_DESCRIBE_H
#define MSD_WORKER_DESCRIBE_H
/* The description of the open module that a worker sends (CHANNEL.md, worker.open). */
#include "daemon/confine/sandbox.h"
#include "runtime/load/loaded.h"

/**
 * Append the map, with the state of @sandbox. @batch: limit of rows for joined calls,
 * 0 if calls are not joined. @shared_weights: bytes (weights.h). If the functions do
 * not fit into a frame, details are left out first and functions last; then "left_out"
 * is their number.
 */
MSD_MUST_CHECK msd_err msd_describe_write(struct msd_loaded *m,
					  const struct msd_sandbox *sandbox,
					  uint64_t batch, uint64_t shared_weights,
					  struct msd_buf *out, struct msd_diag *d);

#endif
