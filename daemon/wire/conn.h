#ifndef MSD_WIRE_CONN_H
#define MSD_WIRE_CONN_H
/*
 * One framed connection on a libuv loop: a client's socket in the supervisor, either
 * end of the channel between supervisor and worker. Reads frames, places payloads
 * straight where their owner wants them, writes queued frames gathered into few
 * writes, carries descriptors. Knows frames and bodies, nothing of methods, and of the
 * socket what transport.h says.
 *
 * Ownership: the creator owns the struct (embedded by value) and frees it in on_closed,
 * which is called exactly once, after msd_conn_close() or a failure. All calls on the
 * loop's thread.
 *
 * Happy path of one incoming frame:
 *  - header read and checked; body read; msd_body_read() scans it, unless it is known
 *  - payload_bytes > 0: on_body() says where the payload goes (here, skip, or later)
 *  - payload complete: on_frame()
 * Failures: a frame that breaks the protocol, an over-limit header or a read error end
 * the connection: on_closed(err, text). Nothing is read any more after that.
 *
 * Whoever is not read from is watched for its end: a peer that is gone then is noticed
 * at once, and what it had said behind the stop is not read any more.
 *
 * A connection takes turns with the others of its loop (limits.takes_turns): after
 * MSD_CONN_TURN_FRAMES frames or MSD_CONN_TURN_US, what is left waits for the next turn
 * of the loop, when all others had theirs. Of those whose accounts have a parent in
 * common, a peer's, MSD_CONN_TURN_SHARE are served in one turn of the loop, or fewer
 * when they took MSD_CONN_SHARE_US, and the others, first, in the next one; so it is
 * with what is written to them, MSD_CONN_SHARE_BYTES: who has many connections makes no
 * turn long, nor who fills them with frames that take long, or with answers that it
 * reads all at once.
 */
#include <sys/uio.h>
#include <uv.h>

#include "daemon/wire/list.h"
#include "daemon/wire/shared.h"
#include "daemon/wire/transport.h"
#include "daemon/wire/wire.h"
#include "proto/body.h"
#include "proto/frame.h"

struct msd_account;
struct msd_conn;
struct msd_known;
struct msd_memory;

#define MSD_CONN_TURN_FRAMES 64u
#define MSD_CONN_TURN_US 200u

/* An incoming frame while it is being received. Bytes are the connection's, valid until
 * on_frame() returns, and may be patched by the receiver. */
struct msd_in {
	struct msd_body body;
	struct msd_known
		*known; /* it came before: the body's parts lie there; or NULL */
	uint8_t *bytes; /* the body */
	size_t n_bytes;
	uint64_t payload_bytes;
	uint64_t begun_ms; /* loop time, when its header was read */
	void *payload;     /* where on_body() wanted it; NULL when skipped or absent */
	void *user;        /* the owner's, from on_body() to on_frame() */
};

enum msd_place {
	MSD_PLACE_HERE,  /* in->payload was set: room for payload_bytes */
	MSD_PLACE_SKIP,  /* read and drop it; on_frame() is still called */
	MSD_PLACE_LATER, /* stop reading until msd_conn_place() */
};

/* Why an owner stops reading; each has its own end. */
enum msd_pause {
	MSD_PAUSE_REQUESTS = 1,  /* as many are in flight as may be */
	MSD_PAUSE_MEMORY = 2,    /* what came before holds more than it may */
	MSD_PAUSE_DISBELIEF = 4, /* what came before cannot be believed; for good */
	MSD_PAUSE_ROOM = 8,      /* what came last waits for room of its own */
	MSD_PAUSE_LEAVING = 16   /* it is to end when what came is answered; for good */
};

struct msd_conn_ops {
	/** Only for frames with a payload. Optional: NULL skips every payload. */
	enum msd_place (*on_body)(struct msd_conn *c, struct msd_in *in);
	/** The place of the payload, which msd_conn_narrow() has cut, is full: it goes
	 * on at in->payload when there is room for all of it (HERE), or stops (LATER);
	 * SKIP drops the rest. Only where an owner calls that. */
	enum msd_place (*on_full)(struct msd_conn *c, struct msd_in *in);
	/** One whole frame. May call msd_conn_send() and msd_conn_close(). */
	void (*on_frame)(struct msd_conn *c, struct msd_in *in);
	/** A body has no room in limits.account, without which it may be NULL: pause,
	 * and resume when there may be some. */
	void (*on_short)(struct msd_conn *c);
	/** Optional. The peer writes no more: true, it reads on and is answered, and
	 * what it had written is read first; false, or NULL: it is gone. */
	bool (*reads_on)(struct msd_conn *c);
	/** With that: all of it was read. */
	void (*on_last)(struct msd_conn *c);
	/** The end, once; @err MSD_OK when the peer closed between two frames. */
	void (*on_closed)(struct msd_conn *c, msd_err err, const char *why);
	/** Optional: a last frame that tells the peer why this side ends the
	 * connection. NULL: it was told otherwise, or there is no memory. */
	struct msd_out *(*farewell)(struct msd_conn *c, msd_err err, const char *why);
};

struct msd_conn_limits {
	uint32_t max_body_bytes;
	uint64_t max_payload_bytes;
	uint64_t max_queued_bytes; /* a reader slower than this loses its connection */
	uint32_t max_answer_objects; /* of a response; 0: MSD_MAX_OBJECTS */
	/* What queued frames and bodies hold is charged to it, until the end.
	 * While others are short of it, a reader slower than its share of it loses its
	 * connection. NULL: nobody counts. */
	struct msd_account *account;
	/* Whose parent's part of a turn is its own too: msd_wire.worker. NULL: the
	 * account. */
	const struct msd_account *shares;
	/* Of requests, borrowed. NULL: each is scanned. */
	struct msd_memory *memory;
	bool takes_fds;   /* false: every received descriptor is closed, aside */
	bool refuses_fds; /* one ends the connection; neither: they are passed over */
	bool takes_turns; /* false: all that has come is handed on before others */
	bool leaves_last_fds; /* keeps none of msd_wire.last_fd for a frame's rest */
	bool gathers;         /* msd_conn_put() finds room */
};

/* Who is told how long frames took from being queued to their last byte. */
struct msd_written {
	/** Once for each frame, or for @n that were queued as one, of whose times @ns
	 * is the mean; @sent: false, the connection ended before. */
	void (*tell)(struct msd_written *w, uint64_t ns, uint32_t n, bool sent);
};

/*
 * One outgoing frame: a body that the frame owns, then payload pieces that it borrows.
 * Create with msd_out_new(), append to ->body with the pack writers, add pieces, send.
 */
struct msd_out {
	struct msd_list link; /* msd_conn.queue */
	struct msd_buf body;  /* the frame header's room first, then msgpack */
	struct iovec *pieces; /* behind the body; owned array of borrowed memory */
	uint32_t n_pieces, cap_pieces;
	uint64_t payload_bytes;
	size_t shared_bytes; /* of the body: the first piece */
	/* Of msd_conn_put(): so many whole frames lie in the body. 0: it is one. */
	uint32_t n_put;
	int fd; /* passed along with the first byte; -1 none; owned, closed when sent */
	/** Called once: the last byte was written, or the connection ended. Optional.
	 */
	void (*on_done)(void *ctx, bool sent);
	void *ctx;
	struct msd_written *written; /* optional */
	uint64_t since_ns; /* when it was queued, for that; of n_put the first */
	uint64_t later_ns; /* so much later were they all together */
};

/** A frame with the body's envelope still to be written; NULL when memory is short. */
struct msd_out *msd_out_new(void);
/** `session.close` with @err and @why; NULL when memory is short. */
struct msd_out *msd_out_farewell(msd_err err, const char *why);
/** Add @n payload bytes at @p, zeros up to MSD_TENSOR_ALIGN before them.
 * Returns their offset in the payload, UINT64_MAX when memory is short. */
uint64_t msd_out_add_piece(struct msd_out *o, const void *p, size_t n);
/** End the body of @o, which has no pieces and no on_done, with @part of @s. */
void msd_out_share(struct msd_out *o, struct msd_shared *s, struct msd_span part);
void msd_out_destroy(struct msd_out *o); /* unsent frames only; runs no callback */

struct msd_conn {
	/* public, read-only */
	void *user;            /* the owner's */
	uint64_t queued_bytes; /* not yet written */
	uint64_t n_frames;     /* whole ones that came */
	uint64_t bytes_in, bytes_out;
	/* private */
	struct msd_transport transport;
	struct msd_wire *wire;
	const struct msd_conn_ops *ops;
	struct msd_conn_limits limits;
	uv_poll_t poll;
	int events; /* what poll waits for */
	struct msd_list queue;
	struct msd_list dirty_link;
	uint64_t written; /* bytes of the first queued frame that are out */
	int state;
	/* A header that comes in parts, or the one that ended the connection. */
	uint8_t head[MSD_FRAME_HEADER_BYTES];
	uint64_t have;        /* bytes of the current part that have come */
	uint64_t place_bytes; /* of the payload: so many of it have a place */
	uint8_t *body; /* owned; for a body that cannot be used where it was read */
	size_t body_cap;
	struct msd_frame frame;
	uint64_t begun_ms; /* of that frame: msd_in.begun_ms */
	struct msd_in in;
	uint8_t *spare; /* owned; bytes read but not consumed before reading stopped */
	size_t spare_at, n_spare; /* consumed of it; of it in all */
	struct msd_taker taker;
	struct msd_ender ender;
	uint64_t turn_ends_ns; /* 0: the turn has not been long so far */
	uint64_t crowded_ns;   /* since when closes are waited for; 0: they are not */
	uint32_t frames_left;  /* of its turn */
	uint32_t last_turns;   /* left to who is ending */
	unsigned paused;       /* bits of enum msd_pause */
	bool is_closing, waits_for_place, wants_write, has_said_farewell;
	bool waits_to_bring;       /* descriptors, while too many wait to be closed */
	bool is_ending;            /* msd_conn_hear_out() */
	bool reads_on;             /* the peer does, and writes no more */
	struct msd_fds fds;        /* received, not yet taken */
	uint64_t last_progress_ms; /* of writing, loop time */
	uint64_t refused_ns;       /* since when no descriptor is taken; 0: they are */
	msd_err close_err;
	char close_why[200];
};

/**
 * Start reading from @transport, which the connection now owns (its descriptor is set
 * non-blocking here). On failure it is closed and on_closed is not called.
 */
MSD_MUST_CHECK msd_err msd_conn_open(struct msd_conn *c, struct msd_wire *w,
				     struct msd_transport transport,
				     const struct msd_conn_ops *ops,
				     const struct msd_conn_limits *limits, void *user,
				     struct msd_diag *d);
/** Queue a frame; takes it over in every case. Written at the end of this turn. One
 * that carries a descriptor needs a transport that may pass it. */
void msd_conn_send(struct msd_conn *c, struct msd_out *o);
/** Queue a frame with a body of @n bytes and nothing else: the caller writes them to
 * where is returned, at once. Short frames that come one after the other lie in one
 * piece of memory, so that a pipeline's answers cost a copy each. @w is told, optional.
 * NULL: nothing was queued; msd_conn_send() takes all that there is. */
uint8_t *msd_conn_put(struct msd_conn *c, size_t n, struct msd_written *w);
/** Write what is queued now, as far as the transport takes it and the turn goes. */
void msd_conn_flush(struct msd_conn *c);
/** Its peer's other connections have left it a part of what is written in this turn. */
bool msd_conn_may_write(const struct msd_conn *c);
/** Its turn: serve what has come, without waiting; for what is left it waits for the
 * next one. For a worker, too, between two calls. */
void msd_conn_poll_now(struct msd_conn *c);
/** Answer a MSD_PLACE_LATER. NULL: skip the payload. */
void msd_conn_place(struct msd_conn *c, void *payload);
/** Only the first @bytes of the payload that is being read have a place from here on,
 * which are more than have come. */
void msd_conn_narrow(struct msd_conn *c, uint64_t bytes);
/** The memory of the payload that is being read is gone: read and drop the rest. */
void msd_conn_skip_payload(struct msd_conn *c);
/** Stop reading for @why, or resume: nothing is read while there is any reason. */
void msd_conn_pause(struct msd_conn *c, enum msd_pause why, bool pause);
/** A frame has begun, and its rest is for the peer to send: nobody here stops it. */
bool msd_conn_is_owed(const struct msd_conn *c);
/** The oldest received descriptor, now the caller's, or -1. */
int msd_conn_take_fd(struct msd_conn *c);
/** The other side is gone: write nothing any more of what is queued, read what it had
 * said before, in turns, then close. Not before a later turn; idempotent. */
void msd_conn_hear_out(struct msd_conn *c, msd_err err, const char *why);
/** Close now. On later turns, in a part of each that all share which end, queued frames
 * get on_done(false), then on_closed follows. Idempotent. @why becomes its text. */
void msd_conn_close(struct msd_conn *c, msd_err err, const char *why);
/** True from msd_conn_close() or a failure on: nothing is read or written any more. */
static inline bool msd_conn_is_closing(const struct msd_conn *c)
{
	return c->is_closing;
}

#endif
