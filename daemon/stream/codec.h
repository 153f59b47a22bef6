#ifndef MSD_WIRE_CODEC_H
#define MSD_WIRE_CODEC_H
/*
 * How the bytes of a connection become messages. The connection reads, writes and
 * takes turns (conn.h); its codec knows the protocol. frames.c is the codec of frames,
 * daemon/supervisor/http/conn/http_conn_codec.c that of HTTP.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct msd_conn;

#define MSD_CODEC_PIECES 16u

struct msd_codec {
	/**
	 * Write at most MSD_CODEC_PIECES addresses for the next bytes to @pieces and
	 * return their number. Bytes behind them are read into a buffer, at most
	 * *@buffer_bytes, which may be reduced. No bytes at all: nothing is read.
	 */
	size_t (*want)(struct msd_conn *c, struct iovec *pieces, size_t *buffer_bytes);
	/** @n bytes have arrived in those pieces. */
	void (*arrived)(struct msd_conn *c, size_t n);
	/**
	 * Serve the @n bytes at @p until msd_conn.frames_left is 0. Returns the number
	 * of bytes left.
	 */
	size_t (*take)(struct msd_conn *c, uint8_t *p, size_t n);
	/** True if a message has been read in part. */
	bool (*is_within)(const struct msd_conn *c);
	/** The peer has ended its sending side. */
	void (*ended)(struct msd_conn *c);
	/** Free its memory: the connection has ended. Optional. */
	void (*finish)(struct msd_conn *c);
	/* Then other connections are served; without limits.takes_turns this is only
	 * true for reads. */
	unsigned reads_per_turn, writes_per_turn;
	bool is_counted; /* in msd_wire.count */
};

extern const struct msd_codec msd_frame_codec;
/* Drops all bytes: msd_conn_linger(). */
extern const struct msd_codec msd_linger_codec;

/**
 * Check the clock and end the share if its time is over. Not called for the first
 * message alone: a single call does not pay for the clock.
 */
void msd_conn_spend_time(struct msd_conn *c);

#endif
