#ifndef MSD_RPC_SESSION_TAR_H
#define MSD_RPC_SESSION_TAR_H
/* A plain tar archive in memory, as TVM's export_library and MetaSchedule write it. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/** True if @bytes begin like a tar archive. */
bool msd_rpc_tar_is(struct msd_span bytes);
/**
 * Read the next regular file from *@at, which moves behind it. @ret borrows its bytes;
 * its `p` is NULL at the end. Errors: MSD_BAD_ARTIFACT.
 */
MSD_MUST_CHECK msd_err msd_rpc_tar_next(struct msd_span *at, struct msd_span *ret,
					struct msd_diag *d);

#endif
