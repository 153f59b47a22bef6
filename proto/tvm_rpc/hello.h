#ifndef MSD_PROTO_TVM_RPC_HELLO_H
#define MSD_PROTO_TVM_RPC_HELLO_H
/*
 * The hello of TVM's RPC: i32 magic, i32 length, and that many bytes of text. A client
 * sends "client:KEY" or "client:KEY -timeout=SECONDS", a server "server:KEY". The same
 * frames carry JSON between a tracker and its clients, with a magic of their own once
 * in each direction and then without one.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

#define MSD_RPC_MAGIC 0x000ff271u
#define MSD_RPC_LEAST_HELLO_BYTES 15u /* without a key; clients send it in pieces */
#define MSD_RPC_DUPLICATE 0x000ff272u /* answer of a proxy: the key is in use */
#define MSD_RPC_MISMATCH 0x000ff273u  /* answer: no server has this key */
#define MSD_RPC_TRACKER_MAGIC 0x0002f271u
#define MSD_RPC_MAX_HELLO_BYTES 1024u
#define MSD_RPC_MAX_TRACKER_BYTES (1u << 20) /* in a tracker's message */

struct msd_rpc_hello {
	struct msd_span key;
	uint64_t timeout_ms; /* limit of the session; 0: none */
};

/**
 * Read a client's hello from the first bytes of a connection. *@ret_used is its size.
 * Errors: MSD_WAIT (more bytes are needed), MSD_PROTOCOL (another magic, a length
 * below 0 or over MSD_RPC_MAX_HELLO_BYTES, another word than "client:", a timeout that
 * is no positive number).
 */
MSD_MUST_CHECK msd_err msd_rpc_hello_read(struct msd_span bytes,
					  struct msd_rpc_hello *ret, size_t *ret_used,
					  struct msd_diag *d);
/** Append the answer of a server that accepts a client of @key. */
void msd_rpc_hello_accept(struct msd_buf *out, struct msd_span key);
/** Append the answer of a server that has another key. */
void msd_rpc_hello_refuse(struct msd_buf *out);

/**
 * Read one message of a tracker, i32 length and JSON. *@ret is the JSON, *@ret_used the
 * size of the whole. Errors: MSD_WAIT, MSD_PROTOCOL (a length below 0 or over
 * MSD_RPC_MAX_TRACKER_BYTES).
 */
MSD_MUST_CHECK msd_err msd_rpc_tracker_read(struct msd_span bytes, struct msd_span *ret,
					    size_t *ret_used, struct msd_diag *d);
/** Append a message to a tracker. */
void msd_rpc_tracker_write(struct msd_buf *out, struct msd_span json);

#endif
