#ifndef MSD_SUPERVISOR_RPC_CONN_H
#define MSD_SUPERVISOR_RPC_CONN_H
/*
 * A connection of a client of TVM's RPC. The supervisor reads its hello and no byte
 * after it, and passes the socket on. It keeps a duplicate, on which it explains the
 * end of a process that dies.
 */
#include "daemon/stream/conn.h"
#include "daemon/supervisor/rpc/rpc.h"
#include "daemon/supervisor/rpc/rpc_process.h"
#include "daemon/supervisor/rpc/rpc_step.h"
#include "proto/tvm_rpc/hello.h"

#define MSD_RPC_HELLO_HEAD 8u /* magic and length */

struct msd_rpc_conn {
	struct msd_list link; /* msd_rpc.conns */
	struct msd_rpc *rpc;
	struct msd_session session;
	/* Not open: its transport and counts, for lists of connections. */
	struct msd_conn conn;
	enum msd_rpc_state state;
	uv_poll_t poll;
	struct msd_deadline due;
	uint8_t hello[MSD_RPC_HELLO_HEAD + MSD_RPC_MAX_HELLO_BYTES];
	size_t n_hello;
	uint64_t n_greeting;         /* bytes of the answer to the hello */
	uint64_t session_ms;         /* the hello's timeout; 0: none */
	uint64_t ends_ms;            /* loop time at which that is over */
	struct msd_match_key *place; /* of the tracker; NULL: none */
	struct msd_rpc_process process;
	char why[512];   /* why it ends, for the client */
	unsigned n_open; /* handles that must close before it is freed */
};

/** Begin with the connection of @who. Takes @transport, and the slot of @peer. */
void msd_rpc_conn_open(struct msd_rpc *rpc, struct msd_transport transport,
		       struct msd_principal who, struct msd_client_peer *peer);
/** Something happened to it. It may be closed, and is freed in a later iteration. */
void msd_rpc_conn_on(struct msd_rpc_conn *c, enum msd_rpc_event event);
/** End it for the reason @why. */
void msd_rpc_conn_end(struct msd_rpc_conn *c, const char *why);
/** A place may be free: give it to the connection that has waited longest. */
void msd_rpc_conns_place(struct msd_rpc *rpc);

#endif
