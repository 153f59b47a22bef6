#ifndef MSD_SUPERVISOR_OPENING_PARAMS_H
#define MSD_SUPERVISOR_OPENING_PARAMS_H
/* What a worker is told when it is to open its artifact: the params of worker.open
 * (daemon/worker/CHANNEL.md). */
#include "proto/bytes.h"

struct msd_crew;

/** Append them: all that worker @index of @crew is told. */
void msd_opening_write_params(struct msd_buf *b, const struct msd_crew *crew,
			      uint32_t index);

#endif
