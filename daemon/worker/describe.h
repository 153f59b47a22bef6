#ifndef MSD_WORKER_DESCRIBE_H
#define MSD_WORKER_DESCRIBE_H
/* What a worker tells about its module when it is open (CHANNEL.md, worker.open). */
#include "daemon/worker/sandbox.h"
#include "runtime/load/loaded.h"

/** Append the map, with what @sandbox holds; @batch: rows that calls may be joined to,
 * 0 when they are not. Of a module with more functions than a frame holds, details are
 * left out first and functions last; then "left_out" says how many. */
MSD_MUST_CHECK msd_err msd_describe_write(struct msd_loaded *m,
					  const struct msd_sandbox *sandbox,
					  uint64_t batch, struct msd_buf *out,
					  struct msd_diag *d);

#endif
