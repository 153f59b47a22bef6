#ifndef MSD_RPC_SESSION_MODULES_H
#define MSD_RPC_SESSION_MODULES_H
/* Modules of a session: the global functions that load them, and search in them. */
#include "daemon/rpc_session/state.h"

/* Answers a call. */
typedef msd_err msd_rpc_modules_fn(struct msd_rpc_session *s,
				   const struct msd_rpc_args *args, struct msd_diag *d);

msd_rpc_modules_fn msd_rpc_modules_load;       /* (file) */
msd_rpc_modules_fn msd_rpc_modules_linked;     /* (file): the library as bytes */
msd_rpc_modules_fn msd_rpc_modules_system;     /* (): an empty one */
msd_rpc_modules_fn msd_rpc_modules_graph;      /* (graph, library, ...): an executor */
msd_rpc_modules_fn msd_rpc_modules_find;       /* (module, name[, with imports]) */
msd_rpc_modules_fn msd_rpc_modules_implements; /* same: whether it has that function */
msd_rpc_modules_fn msd_rpc_modules_timer;      /* (module or None, name, ...) */
msd_rpc_modules_fn msd_rpc_modules_import;     /* (to, from) */
msd_rpc_modules_fn msd_rpc_modules_forget;     /* (module): drops its imports */
msd_rpc_modules_fn msd_rpc_modules_kind;       /* (module): TVM's name of its kind */

#endif
