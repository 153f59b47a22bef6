#ifndef MSD_FETCH_PUT_FETCHED_H
#define MSD_FETCH_PUT_FETCHED_H
/* Encode the result of a fetch.get (see CHANNEL.md). */
#include "daemon/fetch/job.h"

/** Append the result of @job, which must have succeeded. */
void msd_put_fetched(struct msd_buf *ret, const struct msd_job *job);

#endif
