#ifndef MSD_SUPERVISOR_FETCHED_H
#define MSD_SUPERVISOR_FETCHED_H
/* The result of a fetch.get, as modserd-fetch gives it: checked like a stranger's. */
#include "daemon/supervisor/source/source.h"
#include "daemon/wire/conn.h"
#include "proto/unpack.h"

/** Read {bytes, sha256, file} and take the descriptor that came with it from @channel.
 * *@ret_file borrows from @result. Errors: MSD_INTERNAL, MSD_BAD_REQUEST, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_fetched_read(struct msd_conn *channel,
					struct msd_unpack *unpack,
					struct msd_span result, struct msd_source *ret,
					struct msd_span *ret_file, struct msd_diag *d);

#endif
