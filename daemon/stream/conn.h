#ifndef MSD_WIRE_CONN_H
#define MSD_WIRE_CONN_H

/*
 * One framed connection on a libuv loop: a client's socket in the supervisor, or
 * either end of the channel between supervisor and worker. It reads frames, reads
 * payloads straight into the memory of their owner, gathers queued frames into few
 * writes, and carries descriptors. It knows frames and bodies, but no methods, and
 * uses the socket only through transport.h.
 *
 * Ownership: the creator owns the struct (embedded by value) and frees it in
 * on_closed, which is called exactly once, after msd_conn_close() or a failure. All
 * calls on the loop's thread.
 *
 * Happy path of one incoming frame:
 *   - the header is read and checked; the body is read; msd_body_read() scans it,
 *     unless it is in the body cache
 *   - payload_bytes > 0: on_body() says where the payload goes (here, skip, or later)
 *   - the payload is complete: on_frame()
 *
 * Failures: a frame that breaks the protocol, a header over the limits or a read
 * error ends the connection: on_closed(err, text). Nothing is read after that.
 *
 * While reading is stopped, the connection still watches for the end of the peer. A
 * closed peer is noticed at once, and its bytes behind the stop are not read any
 * more. The events change only when bytes arrive behind the stop, so a short stop
 * needs no system call.
 *
 * Connections of a loop are scheduled fairly (limits.takes_turns). After
 * MSD_CONN_TURN_FRAMES frames or MSD_CONN_TURN_US the rest waits for the next loop
 * iteration, behind all other connections. Connections of one peer have accounts with
 * a common parent, and share one iteration: at most MSD_CONN_TURN_SHARE connections,
 * fewer if they took MSD_CONN_SHARE_US. The rest of them are first in the next
 * iteration. Writes to them are limited in the same way, to MSD_CONN_SHARE_BYTES. So
 * no peer makes an iteration long: not with many connections, slow frames, or replies
 * that it reads all at once.
 */

#include <sys/uio.h>
#include <uv.h>

#include "daemon/loop/list.h"
#include "daemon/stream/shared.h"
#include "daemon/stream/transport.h"
#include "daemon/stream/wire.h"
#include "proto/body.h"
#include "proto/frame.h"

struct msd_account;
struct msd_codec;
struct msd_conn;
struct msd_known;
struct msd_memory;

#define MSD_CONN_TURN_FRAMES 64u
#define MSD_CONN_TURN_US 200u

/* An incoming frame while it is received. The connection owns its bytes, which are
 * valid until on_frame() returns; the receiver may patch them. */
struct msd_in {
	struct msd_body body;
	struct msd_known
		*known; /* cache entry with the body's parts; NULL: not cached */
	uint8_t *bytes; /* the body */
	size_t n_bytes;
	uint64_t payload_bytes;
	uint64_t begun_ms; /* loop time when the header was read */
	void *payload;     /* place from on_body(); NULL if skipped or absent */
	void *user;        /* for the owner, from on_body() to on_frame() */
};

enum msd_place {
	MSD_PLACE_HERE,  /* in->payload was set: room for payload_bytes */
	MSD_PLACE_SKIP,  /* read and drop it; on_frame() is still called */
	MSD_PLACE_LATER, /* stop reading until msd_conn_place() */
};

/* Reasons of an owner to stop reading; each ends separately. */
enum msd_pause {
	MSD_PAUSE_REQUESTS = 1,  /* maximum of requests in flight */
	MSD_PAUSE_MEMORY = 2,    /* earlier requests hold too much memory */
	MSD_PAUSE_DISBELIEF = 4, /* earlier data cannot be trusted; permanent */
	MSD_PAUSE_ROOM = 8,      /* the last frame waits for memory */
	MSD_PAUSE_LEAVING = 16,  /* close after the pending replies; permanent */
	MSD_PAUSE_OUTPUT = 32    /* replies first; the end of the peer is not noticed:
				    it may have ended its sending side only */
};

struct msd_conn_ops {
	const struct msd_codec *codec; /* NULL: frames */
	/** Only for frames with a payload. Optional: NULL skips every payload. */
	enum msd_place (*on_body)(struct msd_conn *c, struct msd_in *in);
	/**
	 * The place of the payload, cut by msd_conn_narrow(), is full. HERE: continue
	 * at in->payload, which has room for all of it; LATER: stop; SKIP: drop the
	 * rest. Only for owners that call msd_conn_narrow().
	 */
	enum msd_place (*on_full)(struct msd_conn *c, struct msd_in *in);
	/** One complete frame. May call msd_conn_send() and msd_conn_close(). */
	void (*on_frame)(struct msd_conn *c, struct msd_in *in);
	/**
	 * A body has no room in limits.account: pause, and resume when there may be
	 * some. May be NULL if there is no account.
	 */
	void (*on_short)(struct msd_conn *c);
	/**
	 * Optional. The peer has ended its sending side. True: it still reads and
	 * gets its replies, and the bytes that it had sent are read first. False, or
	 * NULL: it is gone.
	 */
	bool (*reads_on)(struct msd_conn *c);
	/** With reads_on: all bytes of the peer were read. */
	void (*on_last)(struct msd_conn *c);
	/**
	 * Optional. The connection has ended: free a bounded part of the data that it
	 * holds. False: the rest is little, and on_closed() frees it.
	 */
	bool (*release)(struct msd_conn *c);
	/**
	 * The connection has ended; called once. @err is MSD_OK if the peer closed
	 * between two frames.
	 */
	void (*on_closed)(struct msd_conn *c, msd_err err, const char *why);
	/**
	 * Optional: make a last frame that tells the peer why this side closes the
	 * connection. NULL: the peer already knows, or memory is short.
	 */
	struct msd_out *(*farewell)(struct msd_conn *c, msd_err err, const char *why);
};

struct msd_conn_limits {
	uint32_t max_body_bytes;
	uint64_t max_payload_bytes;
	uint64_t max_queued_bytes;   /* a slower reader loses its connection */
	uint32_t max_answer_objects; /* limit of a response; 0: MSD_MAX_OBJECTS */
	/*
	 * Charged for queued frames and bodies until the end. While a parent account
	 * is over its limit, a reader with more queued than its share loses its
	 * connection. NULL: not counted.
	 */
	struct msd_account *account;
	/* Account whose parent limits the share of a loop iteration: msd_wire.worker.
	 * NULL: same as account. */
	const struct msd_account *shares;
	/* Body cache of requests, borrowed. NULL: each body is scanned. */
	struct msd_memory *memory;
	bool takes_fds;       /* false: a thread closes every received descriptor */
	bool refuses_fds;     /* one ends the connection; neither: they are ignored */
	bool takes_turns;     /* false: all received bytes are served before other
				 connections */
	bool leaves_last_fds; /* keeps none of msd_wire.last_fd inside a frame */
	bool gathers;         /* msd_conn_put() may be used */
};

/* Gets the time from the queueing of frames to their last byte. */
struct msd_written {
	/**
	 * Called once per frame, or once for @n frames that were queued together,
	 * with the mean of their times as @ns. @sent is false if the connection ended
	 * first.
	 */
	void (*tell)(struct msd_written *w, uint64_t ns, uint32_t n, bool sent);
};

/*
 * One outgoing frame: a body that the frame owns, then payload pieces that it
 * borrows. Create it with msd_out_new(), append to ->body with the pack writers, add
 * pieces, send.
 */
struct msd_out {
	struct msd_list link; /* msd_conn.queue */
	struct msd_buf body;  /* room for the frame header, then msgpack */
	struct iovec *pieces; /* behind the body; owned array of borrowed memory */
	uint32_t n_pieces, cap_pieces;
	uint64_t payload_bytes;
	size_t shared_bytes; /* part of the body: the first piece */
	/* Number of whole frames in the body, for msd_conn_put(). 0: a single frame. */
	uint32_t n_put;
	int fd; /* passed with the first byte; -1 none; owned, closed when sent */
	/** Optional. Called once: the last byte was written, or the connection ended.
	 */
	void (*on_done)(void *ctx, bool sent);
	void *ctx;
	struct msd_written *written; /* optional */
	uint64_t since_ns; /* queueing time, for written; of n_put frames the first */
	uint64_t later_ns; /* sum of the later frames' delays after since_ns */
};

/** Make a frame whose body envelope is still to be written; NULL if memory is short. */
struct msd_out *msd_out_new(void);
/** Make `session.close` with @err and @why; NULL if memory is short. */
struct msd_out *msd_out_farewell(msd_err err, const char *why);
/**
 * Add @n payload bytes at @p, with zeros up to MSD_TENSOR_ALIGN before them. Returns
 * their offset in the payload, UINT64_MAX if memory is short.
 */
uint64_t msd_out_add_piece(struct msd_out *o, const void *p, size_t n);
/** Append @part of @s to the body of @o as its end. @o has no pieces and no on_done. */
void msd_out_share(struct msd_out *o, struct msd_shared *s, struct msd_span part);
void msd_out_destroy(struct msd_out *o); /* unsent frames only; runs no callback */

/* State of the codec of frames: the frame that is being received. Private. */
struct msd_framing {
	int state;
	/* A header that arrives in pieces, or the header that ended the connection. */
	uint8_t head[MSD_FRAME_HEADER_BYTES];
	uint64_t have;        /* received bytes of the current part */
	uint64_t place_bytes; /* bytes of the payload that have a place */
	uint8_t *body; /* owned; for a body that cannot be used in the read buffer */
	size_t body_cap;
	struct msd_frame frame;
	uint64_t begun_ms; /* msd_in.begun_ms of that frame */
	struct msd_in in;
};

struct msd_conn {
	/* public, read-only */
	void *user;            /* for the owner */
	uint64_t queued_bytes; /* not yet written */
	uint64_t n_frames;     /* complete received frames */
	uint64_t bytes_in, bytes_out;
	/* private */
	struct msd_transport transport;
	struct msd_wire *wire;
	const struct msd_conn_ops *ops;
	const struct msd_codec *codec;
	struct msd_conn_limits limits;
	uv_poll_t poll;
	int events; /* current events of the poll handle */
	struct msd_list queue;
	struct msd_list dirty_link;
	uint64_t written; /* written bytes of the first queued frame */
	struct msd_framing framing;
	uint64_t dropped_bytes; /* while it lingers */
	uint8_t *spare; /* owned; bytes read but not consumed before reading stopped */
	size_t spare_at, n_spare; /* consumed bytes of it; its total */
	struct msd_schedulable taker;
	struct msd_task ender;
	uint64_t turn_ends_ns; /* 0: the share has no time limit yet */
	uint64_t crowded_ns;   /* start of waiting for closes; 0: not waiting */
	uint32_t frames_left;  /* left in this share */
	uint32_t last_turns;   /* left while is_ending */
	unsigned paused;       /* bits of enum msd_pause */
	bool is_closing, waits_for_place, wants_write, has_said_farewell;
	bool waits_to_bring; /* too many descriptors wait to be closed: reads wait */
	bool is_ending;      /* msd_conn_hear_out() */
	bool reads_on;       /* the peer has ended its sending side but still reads */
	bool has_unread;     /* an event told of bytes while reading was stopped */
	struct msd_fds fds;  /* received, not yet taken */
	uint64_t last_progress_ms; /* of writing, loop time */
	uint64_t refused_ns;       /* start of refused descriptors; 0: not refused */
	msd_err close_err;
	char close_why[200];
};

/**
 * Start reading from @transport. The connection owns it and sets its descriptor
 * non-blocking. On failure it is closed and on_closed is not called.
 */
MSD_MUST_CHECK msd_err msd_conn_open(struct msd_conn *c, struct msd_wire *w,
				     struct msd_transport transport,
				     const struct msd_conn_ops *ops,
				     const struct msd_conn_limits *limits, void *user,
				     struct msd_diag *d);
/**
 * Queue a frame; takes it in every case. It is written at the end of this loop
 * iteration. A frame with a descriptor needs a transport that may pass it.
 */
void msd_conn_send(struct msd_conn *c, struct msd_out *o);
/** The same for bytes that have no frame header. */
void msd_conn_write(struct msd_conn *c, struct msd_out *o);
/**
 * Write the @n bytes at @p at once if nothing is queued and the share allows it.
 * Returns how many were written; the rest may be queued.
 */
size_t msd_conn_write_now(struct msd_conn *c, const void *p, size_t n);
/**
 * Queue a frame that is only a body of @n bytes; the caller writes it at once to the
 * returned address. Consecutive short frames share one buffer, so each reply of a
 * pipeline costs one copy. @w is notified, optional. NULL: nothing was queued; use
 * msd_conn_send().
 */
uint8_t *msd_conn_put(struct msd_conn *c, size_t n, struct msd_written *w);
/** Write queued frames now, as far as the transport and the share allow. */
void msd_conn_flush(struct msd_conn *c);
/** True if the peer's connections may write more in this iteration. */
bool msd_conn_may_write(const struct msd_conn *c);
/**
 * Serve received bytes now, without blocking; the rest waits for the next iteration.
 * A worker also calls it between two calls.
 */
void msd_conn_poll_now(struct msd_conn *c);
/** Answer a MSD_PLACE_LATER. NULL: skip the payload. */
void msd_conn_place(struct msd_conn *c, void *payload);
/**
 * From now on only the first @bytes of the current payload have a place. @bytes must
 * be more than have been received.
 */
void msd_conn_narrow(struct msd_conn *c, uint64_t bytes);
/** The memory of the current payload is gone: read and drop the rest. */
void msd_conn_skip_payload(struct msd_conn *c);
/** Stop reading for @why, or resume. Nothing is read while any reason is set. */
void msd_conn_pause(struct msd_conn *c, enum msd_pause why, bool pause);
/**
 * True if the peer must send the rest of a frame, and this side has not stopped
 * reading.
 */
bool msd_conn_is_owed(const struct msd_conn *c);
/** Take the oldest received descriptor; the caller owns it. -1: none. */
int msd_conn_adopt_fd(struct msd_conn *c);
/**
 * The other side is gone: drop queued writes, read the bytes that it had sent, in
 * fair shares, then close. Closes in a later iteration; idempotent.
 */
void msd_conn_hear_out(struct msd_conn *c, msd_err err, const char *why);
/**
 * The last reply is written: end the sending side, and drop all that the peer still
 * sends, until it closes. A close with unread bytes would send a reset, which may
 * overtake the reply.
 */
void msd_conn_linger(struct msd_conn *c);
/** True after msd_conn_linger(). */
bool msd_conn_lingers(const struct msd_conn *c);
/**
 * Close now. Later iterations, each with a limited time for all closed connections,
 * call on_done(false) for queued frames, then on_closed. Idempotent. @why becomes its
 * text.
 */
void msd_conn_close(struct msd_conn *c, msd_err err, const char *why);
/** True from msd_conn_close() or a failure on: nothing is read or written any more. */
static inline bool msd_conn_is_closing(const struct msd_conn *c)
{
	return c->is_closing;
}

#endif
