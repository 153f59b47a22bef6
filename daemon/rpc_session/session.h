#ifndef MSD_RPC_SESSION_SESSION_H
#define MSD_RPC_SESSION_SESSION_H
/*
 * One session of TVM's RPC: it reads a packet, does what it asks, and answers. An
 * error in a packet or in a call is answered as an exception, and the session goes on.
 */
#include "daemon/rpc_session/state.h"

/** Serve until the client leaves. Returns the exit status of the process. */
int msd_rpc_session_run(struct msd_rpc_session *s);
/**
 * Free what it has, but not modules that were loaded: they live until the process ends.
 */
void msd_rpc_session_finish(struct msd_rpc_session *s);

#endif
