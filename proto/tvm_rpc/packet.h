#ifndef MSD_PROTO_TVM_RPC_PACKET_H
#define MSD_PROTO_TVM_RPC_PACKET_H
/*
 * Packets of TVM's RPC: u64 size, then that many bytes: i32 code, and the fields of
 * that code. One question is answered by one packet; nothing is pipelined.
 */
#include "proto/tvm_rpc/value.h"

#define MSD_RPC_SIZE_BYTES 8u /* in front of each packet */

enum msd_rpc_code {
	MSD_RPC_SHUTDOWN = 1,
	MSD_RPC_INIT_SERVER = 2,
	MSD_RPC_CALL = 3,
	MSD_RPC_RETURN = 4,
	MSD_RPC_EXCEPTION = 5,
	MSD_RPC_COPY_FROM = 6, /* from the server's memory */
	MSD_RPC_COPY_TO = 7,
	MSD_RPC_COPY_ACK = 8,
	MSD_RPC_GET_GLOBAL = 9, /* this one and the following have a sequence */
	MSD_RPC_FREE_HANDLE = 10,
	MSD_RPC_SET_DEVICE = 11,
	MSD_RPC_GET_ATTR = 12,
	MSD_RPC_ALLOC = 13,
	MSD_RPC_FREE_DATA = 14,
	MSD_RPC_SYNC = 15,
	MSD_RPC_COPY_AMONG = 16,
	MSD_RPC_ALLOC_WITH_SCOPE = 17,
	MSD_RPC_CREATE_STREAM = 18,
	MSD_RPC_FREE_STREAM = 19,
	MSD_RPC_SET_STREAM = 20,
	MSD_RPC_GET_STREAM = 21,
	MSD_RPC_CODE_COUNT
};

/* Fields that a code lacks are zero. */
struct msd_rpc_packet {
	enum msd_rpc_code code;
	struct msd_span version;      /* INIT_SERVER */
	uint64_t function;            /* CALL: a handle */
	struct msd_rpc_tensor tensor; /* COPY_FROM, COPY_TO */
	uint64_t n_bytes;             /* COPY_FROM, COPY_TO: of the copy */
	struct msd_span data;         /* COPY_TO, COPY_ACK */
	struct msd_span seq;          /* all others but SHUTDOWN; not checked yet */
};

/**
 * Read the packet that @bytes, which follow its size, hold; @ret borrows them. A
 * COPY_TO may lack the end of its data: @total_bytes is the size of the packet.
 * Errors: MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_rpc_packet_read(struct msd_span bytes, uint64_t total_bytes,
					   struct msd_rpc_packet *ret,
					   struct msd_diag *d);
/**
 * Find the era of the client that sent @p, its first packet with values. Errors:
 * MSD_BAD_REQUEST (in neither era the values fill the packet).
 */
MSD_MUST_CHECK msd_err msd_rpc_packet_era(const struct msd_rpc_packet *p,
					  enum msd_rpc_era *ret, struct msd_diag *d);
/**
 * Append a packet. Values are written in @era, in place of p->seq. If memory is short,
 * out->bad is set.
 */
void msd_rpc_packet_write(struct msd_buf *out, const struct msd_rpc_packet *p,
			  enum msd_rpc_era era, const struct msd_rpc_value *values,
			  uint32_t n_values);

#endif
