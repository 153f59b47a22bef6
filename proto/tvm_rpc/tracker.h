#ifndef MSD_PROTO_TVM_RPC_TRACKER_H
#define MSD_PROTO_TVM_RPC_TRACKER_H
/*
 * Messages that a server of TVM's RPC exchanges with a tracker, in the frames of
 * hello.h. They are JSON arrays; the first element is a code:
 *
 *   [5, {"key": "server:KEY", "addr": [HOST, PORT]}]   this server exists; answer 0
 *   [3, KEY, [PORT, MATCHKEY], HOST]   it has a place for one session; answer 0
 *   [7]   the match keys that no client has got yet; answer [MATCHKEY, ...]
 *
 * The tracker takes the address that it sees where HOST is null.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/** Append the message that announces the server. @host: NULL, or the address to tell.
 */
void msd_rpc_tracker_write_server(struct msd_buf *out, const char *key,
				  const char *host, uint16_t port);
/** Append the message that announces a place for a client with @match_key. */
void msd_rpc_tracker_write_place(struct msd_buf *out, const char *key,
				 const char *match_key, const char *host,
				 uint16_t port);
/** Append the question for match keys that are left. */
void msd_rpc_tracker_write_question(struct msd_buf *out);
/** Read the answer to an announcement. Errors: MSD_PROTOCOL (it is not 0). */
MSD_MUST_CHECK msd_err msd_rpc_tracker_read_done(struct msd_span json,
						 struct msd_diag *d);
/**
 * Read the answer to the question: call @on_key for each string of the array, until it
 * returns false. Longer strings than MSD_RPC_TRACKER_TEXT_BYTES are cut to one byte
 * more. Errors: MSD_PROTOCOL (no array of strings, or @on_key returned false).
 */
MSD_MUST_CHECK msd_err msd_rpc_tracker_read_left(struct msd_span json,
						 bool (*on_key)(void *user,
								struct msd_span key),
						 void *user, struct msd_diag *d);

#define MSD_RPC_TRACKER_TEXT_BYTES 300u

#endif
