#ifndef MSD_RPC_SESSION_ARGS_H
#define MSD_RPC_SESSION_ARGS_H
/* Arguments of the global functions of the session. Errors: MSD_BAD_ARGUMENT. */
#include "daemon/rpc_session/state.h"

void msd_rpc_return_none(struct msd_rpc_session *s);
MSD_MUST_CHECK msd_err msd_rpc_bytes_at(const struct msd_rpc_args *args, uint32_t i,
					struct msd_span *ret, struct msd_diag *d);
/** A file of the session by its name. Also MSD_NOT_FOUND. */
MSD_MUST_CHECK msd_err msd_rpc_file_at(const struct msd_rpc_session *s,
				       const struct msd_rpc_args *args, uint32_t i,
				       struct msd_rpc_file **ret, struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_rpc_object_at(const struct msd_rpc_session *s,
					 const struct msd_rpc_args *args, uint32_t i,
					 struct msd_rpc_object **ret,
					 struct msd_diag *d);
/** A module or an executor. */
MSD_MUST_CHECK msd_err msd_rpc_module_at(const struct msd_rpc_session *s,
					 const struct msd_rpc_args *args, uint32_t i,
					 struct msd_rpc_object **ret,
					 struct msd_diag *d);

#endif
