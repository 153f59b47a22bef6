#ifndef MSD_SUPERVISOR_RPC_H
#define MSD_SUPERVISOR_RPC_H
/*
 * Clients of TVM's RPC: a listener of its own, and its connections (rpc_conn.h). The
 * supervisor reads only the hello of a client. Then modserd-rpc, one process a
 * session, has the socket. Only --tvm-rpc creates it; otherwise msd_edge.rpc is NULL,
 * and it costs nothing.
 */
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/listen/listen_socket.h"
#include "daemon/supervisor/rpc/rpc_settings.h"

struct msd_rpc {
	struct msd_edge *edge;
	struct msd_rpc_settings settings;
	char *program;               /* path of modserd-rpc, owned */
	struct msd_tracker *tracker; /* NULL: none */
	struct msd_list conns;       /* msd_rpc_conn.link, the oldest first */
	uint32_t n_running;          /* connections with a process */
	struct msd_log_rate failures, fulls;
};

/**
 * Listen for clients of TVM's RPC. Takes @program, the path of modserd-rpc, in every
 * case. @fd: an inherited socket that listens there, which is taken; -1: none. Errors:
 * those of the listener, of msd_rpc_settings_read_key() and msd_tracker_open(),
 * MSD_NOT_FOUND (@program is NULL).
 */
MSD_MUST_CHECK msd_err msd_rpc_open(struct msd_edge *e,
				    const struct msd_rpc_settings *settings,
				    char *program, int fd,
				    const struct msd_listen_options *how,
				    struct msd_diag *d);
/** The daemon will stop soon: no tracker sends clients any more. */
void msd_rpc_leave(struct msd_edge *e);
/**
 * The daemon stops: refuse clients without a process. @now: kill the processes, too.
 * No effect without RPC.
 */
void msd_rpc_drain(struct msd_edge *e, bool now);
/** True if no session has a process, or owes its client the reason of its end. */
bool msd_rpc_is_drained(const struct msd_edge *e);
/** Close the connections without a process, and kill the processes. */
void msd_rpc_close(struct msd_edge *e);
/** True if only connections are left whose process has not ended. */
bool msd_rpc_is_empty(const struct msd_edge *e);
/** Call it when msd_rpc_is_empty(). */
void msd_rpc_finish(struct msd_edge *e);

#endif
