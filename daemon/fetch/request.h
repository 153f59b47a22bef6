#ifndef MSD_FETCH_REQUEST_H
#define MSD_FETCH_REQUEST_H
/* Parse the params of a fetch.get request (see CHANNEL.md). */
#include "daemon/fetch/job.h"
#include "proto/unpack.h"

struct msd_fetch_request {
	struct msd_job_ask ask; /* borrows from the params and from the fields below */
	uint64_t max_memory;    /* memory limit of all jobs together */
	char *uri, *etag;       /* owned */
	char name[MSD_MAX_NAME_BYTES + 1];
};

/**
 * Parse @params. Call finish in every case. Errors: MSD_BAD_REQUEST,
 * MSD_UNKNOWN_OPTION, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_fetch_request_read(struct msd_unpack *unpack,
					      struct msd_span params,
					      struct msd_fetch_request *ret,
					      struct msd_diag *d);
void msd_fetch_request_finish(struct msd_fetch_request *a);

#endif
