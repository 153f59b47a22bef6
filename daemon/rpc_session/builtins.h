#ifndef MSD_RPC_SESSION_BUILTINS_H
#define MSD_RPC_SESSION_BUILTINS_H
/* The global functions of TVM's RPC server: files, modules and shapes. */
#include "daemon/rpc_session/state.h"

struct msd_rpc_builtin {
	const char *name;
	uint32_t n_args; /* at least */
	/** Answers the call. */
	msd_err (*call)(struct msd_rpc_session *s, const struct msd_rpc_args *args,
			struct msd_diag *d);
};

/** NULL: there is none of that name. */
const struct msd_rpc_builtin *msd_rpc_builtin_find(struct msd_span name);
/** Call @b. Errors: MSD_BAD_ARGUMENT (too few arguments), and its own. */
MSD_MUST_CHECK msd_err msd_rpc_builtin_call(struct msd_rpc_session *s,
					    const struct msd_rpc_builtin *b,
					    const struct msd_rpc_args *args,
					    struct msd_diag *d);

#endif
