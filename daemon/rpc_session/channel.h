#ifndef MSD_RPC_SESSION_CHANNEL_H
#define MSD_RPC_SESSION_CHANNEL_H
/*
 * The socket of a session. It is read and written with blocking calls: TVM's client
 * waits for each answer before it sends the next packet.
 */
#include "proto/tvm_rpc/packet.h"

struct msd_rpc_page;

#define MSD_RPC_AHEAD_BYTES 520u /* more than size and fields of most packets */

struct msd_rpc_channel {
	int fd;
	uint64_t max_bytes;        /* of a packet */
	struct msd_rpc_page *page; /* says what the session does */
	struct msd_buf in; /* the packet that is read; without the end of its data */
	uint64_t left;     /* bytes of the packet that are not read yet */
	/* Bytes that one read has given beyond those that were asked for. */
	uint8_t ahead[MSD_RPC_AHEAD_BYTES];
	size_t ahead_at, ahead_end;
};

/**
 * Read the next packet; @ret borrows it until the next call. For a COPY_TO
 * only the head is read: msd_rpc_channel_take() reads its data. Errors: MSD_IO (the
 * client has gone, or stopped within a packet), MSD_TOO_LARGE, MSD_NOMEM: the session
 * ends. MSD_BAD_REQUEST: it goes on, after msd_rpc_channel_skip().
 */
MSD_MUST_CHECK msd_err msd_rpc_channel_next(struct msd_rpc_channel *c,
					    struct msd_rpc_packet *ret,
					    struct msd_diag *d);
/**
 * Read @n bytes of the data of the COPY_TO @p to @to. Errors: MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_rpc_channel_take(struct msd_rpc_channel *c,
					    const struct msd_rpc_packet *p, void *to,
					    uint64_t n);
/** Read the rest of the packet and drop it. Errors: MSD_IO. */
MSD_MUST_CHECK msd_err msd_rpc_channel_skip(struct msd_rpc_channel *c);
/** Write @head, and behind it the @n bytes at @data. Errors: MSD_IO. */
MSD_MUST_CHECK msd_err msd_rpc_channel_write(struct msd_rpc_channel *c,
					     const struct msd_buf *head,
					     const void *data, uint64_t n);

#endif
