#ifndef MSD_SUPERVISOR_OPENING_PARAMS_H
#define MSD_SUPERVISOR_OPENING_PARAMS_H
/* The params of worker.open, which tell a worker how to open its artifact
 * (daemon/worker/CHANNEL.md). */
#include "proto/base/bytes.h"

struct msd_worker_group;

/** Append all params for worker @index of @group. */
void msd_opening_write_params(struct msd_buf *b, const struct msd_worker_group *group,
			      uint32_t index);

#endif
