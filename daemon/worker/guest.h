#ifndef MSD_WORKER_GUEST_H
#define MSD_WORKER_GUEST_H
/*
 * A peer that is a client: it has a socket to this worker, made by the supervisor for
 * the two, and may call functions over it, and nothing else. Its tensors travel in the
 * frames. It has what the supervisor gave it and no more: so many requests and bytes
 * that wait, the functions that were named, its part of the room for results.
 *
 *   (worker.peer) --> reads --(its socket is shut down)--> leaves --> gone
 *                       '--------- its end, a breach -----------------^
 *
 * Who leaves is answered all that it had sent.
 */
#include "daemon/worker/worker.h"

/* Of answers that it has not read, when none of its calls is begun any more. */
#define MSD_GUEST_UNREAD_BYTES (1u << 20)
/* Of one call's body, and of the bodies that wait: they lie in memory that is counted
 * with the module's. */
#define MSD_GUEST_BODY_BYTES (64u << 10)
#define MSD_GUEST_BODIES_BYTES (256u << 10)
/* Of free memory for its payloads, or as many as its waiting requests may hold: to map
 * 1 MiB and to touch it first costs twice what a call with it costs else. */
#define MSD_GUEST_KEPT_BYTES (4u << 20)

struct msd_guest_results;

/* Memory for the tensors of one request. */
struct msd_guest_payload {
	struct msd_list link; /* msd_guest.kept, while it is free */
	uint8_t *bytes;       /* owned, a page's first */
	size_t cap;           /* whole pages */
};

/* How long it may do nothing, and has, and how many bytes it had moved by then. */
struct msd_guest_rest {
	uint64_t most_ms, ms, bytes;
};

struct msd_guest {
	uint16_t number; /* the supervisor's name for it: 1 to MSD_MAX_GUESTS */
	uint32_t max_requests;
	uint64_t max_bytes;  /* that its waiting requests may hold */
	uint64_t held_bytes; /* and do */
	uint64_t body_bytes; /* of these, of their bodies */
	uint64_t slow_ns;    /* of a call that the supervisor wants to know; 0: none */
	uint8_t *functions;  /* owned: names as msgpack's str; NULL: all */
	size_t n_functions;  /* their bytes */
	/* Owned: of the frame that is being read. */
	struct msd_guest_payload *coming;
	/* Owned, msd_guest_payload.link: free memory for the next ones, newest first.
	 */
	struct msd_list kept;
	uint64_t kept_bytes;
	struct msd_guest_results *results; /* owned: of the call that was run last */
	/* The channel that it came by; NULL: that is gone, and nobody is told of its
	 * end. */
	struct msd_peer *host;
	struct msd_guest_rest unread; /* of an answer that it does not read */
	struct msd_guest_rest owed;   /* of a frame that it has begun */
	uint64_t n_frames;            /* that had come by the last look at that */
	/* Its channel is taken back (conn.reads_on), and all that it had sent was read.
	 */
	bool has_said_all;
	bool is_passed_over; /* it read no answers when it was its turn */
};

/** Free what @peer has as a guest; NULL is fine. */
void msd_guest_free(struct msd_peer *peer);

/** May its request @r be run? Errors: MSD_REFUSED, MSD_UNSUPPORTED. */
MSD_MUST_CHECK msd_err msd_guest_check(const struct msd_request *r, struct msd_diag *d);
/** Its next request is not begun before it has read its answers. */
static inline bool msd_guest_is_full(const struct msd_peer *peer)
{
	return peer->guest != NULL && peer->conn.queued_bytes > MSD_GUEST_UNREAD_BYTES;
}
/** It has as many requests, or bytes of them or of answers, as it may: it is not read
 * from until msd_guest_is_light(). */
bool msd_guest_is_laden(const struct msd_peer *peer);
bool msd_guest_is_light(const struct msd_peer *peer);

/** Before any other of these. */
void msd_guest_payloads_init(struct msd_guest *g);
/** Memory for @bytes that it sends, which is no data of the worker's; the caller gives
 * it back. NULL: there is none. */
struct msd_guest_payload *msd_guest_payload_take(struct msd_guest *g, uint64_t bytes);
/** Give it back; NULL is fine. */
void msd_guest_payload_free(struct msd_guest *g, struct msd_guest_payload *p);
/** Free what was given back. */
void msd_guest_payloads_finish(struct msd_guest *g);

/**
 * Reserve @bytes of a result of its. It has a part of max_out for certain, and beyond
 * that what other guests have not taken beyond theirs, up to max_out: an answer that
 * the daemon would carry is carried here. Errors: MSD_NO_SPACE, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_guest_alloc(struct msd_peer *peer, uint64_t bytes,
				       enum msd_outpool_as as, struct msd_slot *ret,
				       struct msd_diag *d);
/** The results of a call, @n slots in the order of the reply, are its reply's from here
 * on. */
MSD_MUST_CHECK msd_err msd_guest_keep(struct msd_peer *peer,
				      const struct msd_slot *slots, uint32_t n,
				      struct msd_diag *d);
/** Send @body, and the results that were kept behind it. */
void msd_guest_reply(struct msd_peer *peer, const struct msd_buf *body);
/** The same, not sent. */
void msd_guest_drop_results(struct msd_peer *peer);

#endif
