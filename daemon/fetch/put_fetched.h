#ifndef MSD_FETCH_PUT_FETCHED_H
#define MSD_FETCH_PUT_FETCHED_H
/* The result of a fetch.get, as CHANNEL.md has it. */
#include "daemon/fetch/job.h"

/** Append the result of @job, which has ended well. */
void msd_put_fetched(struct msd_buf *ret, const struct msd_job *job);

#endif
