#ifndef MSD_SUPERVISOR_RPC_KEY_H
#define MSD_SUPERVISOR_RPC_KEY_H
/*
 * The key of a client of TVM's RPC. It must be that of --tvm-rpc, with a tracker a
 * match key, which gives the client a place. With an ACL file the
 * client needs the right to load. Then a key from a loopback address may also be the
 * token of a user; elsewhere others could read it.
 */
#include "daemon/supervisor/rpc/rpc_conn.h"

/** True if the client of @c may have a session with @key. It may become its user. */
bool msd_rpc_key_admits(struct msd_rpc_conn *c, struct msd_span key);

#endif
