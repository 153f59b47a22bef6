#ifndef MSD_WORKER_WORKER_H
#define MSD_WORKER_WORKER_H
/*
 * One worker process: one module, the peers that call it, and the queue of their
 * requests. The thread that reads the channel runs the calls (a wake-up less than any
 * other way): all frames that have come are drained first, cancels and releases take
 * effect at once, requests queue up; then one request runs, and so on until the queue
 * is empty.
 *
 * Everything here belongs to that one thread.
 */
#include <uv.h>

#include "daemon/wire/conn.h"
#include "daemon/wire/segmap.h"
#include "daemon/worker/arena.h"
#include "daemon/worker/door.h"
#include "daemon/worker/funcs.h"
#include "daemon/worker/outpool.h"
#include "daemon/worker/residents.h"
#include "daemon/worker/sandbox.h"
#include "proto/method.h"
#include "proto/recognise.h"
#include "proto/spin.h"

/* Before worker.open has said how much. */
#define MSD_WORKER_DEFAULT_MAX_OUT (4ull << 30)

struct msd_guest;
struct msd_guest_payload;
struct msd_ledger;
struct msd_worker;

/* Who sends requests: the supervisor, and guests (guest.h). Segments, resident tensors
 * and results are the peer's, so that none reaches another's. */
struct msd_peer {
	struct msd_list link; /* msd_worker.peers */
	struct msd_worker *worker;
	struct msd_conn conn;
	struct msd_memory memory; /* of calls; their plans are struct msd_plan */
	struct msd_segmap in;
	struct msd_outpool out;
	struct msd_residents residents;
	struct msd_handles instances;
	struct msd_guest *guest; /* owned; NULL: it is the supervisor */
	struct msd_span payload; /* of the request that runs: its inline tensors */
	uint64_t round;          /* the turn of its last request that came */
	uint32_t n_queued;
	bool is_paused;
	bool is_channel; /* the supervisor's: its end is the worker's */
};

struct msd_request {
	struct msd_list link; /* msd_worker.queue or .spare */
	struct msd_peer *peer;
	uint64_t id;
	enum msd_method method;
	struct msd_known
		*known;         /* in use by it; then there are no params and options */
	struct msd_span params; /* in bytes */
	struct msd_span options;
	struct msd_func *func;      /* of a call, when it is known already */
	struct msd_span names;      /* of a call's arguments; empty: by place */
	struct msd_handle instance; /* whose function is called; 0: the module's */
	uint64_t deadline_ns;       /* msd_now_ns(); 0: none */
	uint64_t sent_ns; /* of a traced call: when it was sent to here; 0: of others */
	/* Where calls wait for others, and of a guest's: when it came here. */
	uint64_t came_ns;
	uint64_t round;                    /* its turn: turns.h */
	struct msd_guest_payload *payload; /* owned: a guest's tensors */
	uint64_t payload_bytes;
	uint64_t held_bytes;      /* that it is counted with, of a guest's */
	struct msd_device device; /* where the call runs; type 0: where the module is */
	uint8_t *bytes;           /* owned copy of the body */
	size_t cap;
};

/* Which calls run as one: batch.h. */
struct msd_batch {
	uint64_t most_rows; /* 0: none do */
	uint64_t within_ns; /* that the first of them waits for others */
	size_t n_apart;     /* at the queue's beginning, that are to run alone */
	uint64_t n_rows;    /* of the first, which is to run alone; 0: not known */
	uv_timer_t due;     /* runs the queue when the first has waited */
	uv_timer_cb on_due;
};

/* How the next request is waited for: spinning.h. */
struct msd_spinning {
	struct msd_spin spin;
	uv_idle_t idle;
	bool has_run;   /* a request, since the loop last waited */
	bool is_guests; /* that one */
};

struct msd_worker {
	struct msd_wire wire;
	int channel_fd;       /* the number that each channel has */
	int first_guest_fd;   /* those that guests have, in order; 0: any */
	struct msd_door door; /* of the next supervisor */
	uv_timer_t idle;      /* gives memory back when nothing was asked for a while */
	uv_check_t check;     /* runs the queue when a turn's frames are in */
	uv_timer_t stall;     /* looks at guests that do not read */
	uv_idle_t
		awake; /* the loop does not wait: guests' frames came before it would */
	struct msd_spinning spinning;
	struct msd_list peers;     /* msd_peer.link */
	struct msd_list queue;     /* msd_request.link, in order of their turns */
	uint64_t round;            /* the turn that is now */
	struct msd_list spare;     /* msd_request.link, for reuse */
	struct msd_buf reply;      /* of the request that runs; kept for the next */
	uint64_t last_pause_ns;    /* when replies were last sent and frames drained */
	uint64_t last_end_ns;      /* when a function last returned */
	uint64_t last_run_ns;      /* and how long that ran */
	struct msd_ledger *ledger; /* shared with the supervisor; NULL: not yet */
	/* the module, from worker.open on */
	int artifact_fd;
	struct msd_span file; /* mapped */
	char name[MSD_MAX_NAME_BYTES + 1];
	struct msd_sandbox sandbox; /* what it was put into */
	struct msd_loaded *module;  /* NULL before */
	struct msd_funcs funcs;
	struct msd_batch batch;
	uint64_t max_out;  /* bytes of results, and of resident tensors, of a peer */
	bool has_pins;     /* its device copies from and to segments directly: pins.h */
	bool has_unpinned; /* a range was refused, which has been told */
	bool has_told_graphs; /* graphs.h */
	/* reused by every call */
	struct msd_arena arena;
	struct msd_diag diag;
};

/** A frame's request joins the queue, with the payload that a guest's has; false when
 * memory is short. */
MSD_MUST_CHECK bool msd_worker_queue(struct msd_worker *w, struct msd_peer *peer,
				     const struct msd_in *in);
/** Drop a request that has not started; it is answered CANCELLED. */
void msd_worker_cancel(struct msd_worker *w, struct msd_peer *peer, uint64_t id);
/** Forget all requests of a peer that is gone. */
void msd_worker_forget(struct msd_worker *w, const struct msd_peer *peer);
/** Out of the queue and back to the spare ones; big bodies are not kept. */
void msd_worker_recycle(struct msd_worker *w, struct msd_request *r);
/** The response that says @err. */
void msd_worker_write_error(struct msd_buf *out, const struct msd_request *r,
			    msd_err err, const struct msd_diag *d);
/** Answer @r with an error. */
void msd_worker_reply_error(const struct msd_request *r, msd_err err,
			    const struct msd_diag *d);

/** Take a connected socket as a peer (consumed in every case) that may do all that the
 * supervisor may. */
MSD_MUST_CHECK msd_err msd_peer_open(struct msd_worker *w, int fd, bool is_channel,
				     struct msd_diag *d);

#endif
