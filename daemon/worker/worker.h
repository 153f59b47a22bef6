#ifndef MSD_WORKER_WORKER_H
#define MSD_WORKER_WORKER_H
/*
 * One worker process: one module, its peers, and the queue of their requests. The
 * thread that reads the channel runs the calls, which saves a wake-up. First it
 * drains all received frames: cancels and releases take effect at once, requests are
 * queued. Then one request runs, and so on until the queue is empty.
 *
 * All of this state belongs to that one thread.
 */
#include <uv.h>

#include "daemon/confine/sandbox.h"
#include "daemon/segments/segmap.h"
#include "daemon/stream/conn.h"
#include "daemon/worker/calls/arena.h"
#include "daemon/worker/calls/funcs.h"
#include "daemon/worker/calls/outpool.h"
#include "daemon/worker/objects/resident_tensors.h"
#include "daemon/worker/takeover_socket.h"
#include "proto/base/spin.h"
#include "proto/method.h"
#include "proto/recognise.h"

/* Used before worker.open sets the value. */
#define MSD_WORKER_DEFAULT_MAX_OUT (4ull << 30)

struct msd_direct_peer;
struct msd_ledger;
struct msd_worker;

/* A sender of requests: the supervisor, or a direct peer (direct_peer.h). Segments,
 * resident tensors and results belong to one peer, so no other peer can reach them. */
struct msd_peer {
	struct msd_list link;  /* msd_worker.peers */
	struct msd_list queue; /* msd_request.link, in order of arrival */
	struct msd_worker *worker;
	struct msd_conn conn;
	struct msd_memory memory; /* cache of calls; their plans are struct msd_plan */
	struct msd_segmap in;
	struct msd_outpool out;
	struct msd_resident_tensors residents;
	struct msd_handles instances;
	struct msd_handles objects;    /* held_objects.h */
	struct msd_direct_peer *guest; /* owned; NULL: the supervisor */
	struct msd_span payload;       /* inline tensors of the running request */
	uint64_t round;                /* of its first queued request: fair_queue.h */
	uint32_t n_queued;
	bool is_paused;
	bool is_channel; /* the supervisor's channel: its end ends the worker */
};

struct msd_request {
	struct msd_list link; /* msd_peer.queue or msd_worker.spare */
	struct msd_peer *peer;
	uint64_t id;
	enum msd_method method;
	bool is_measured; /* a call that msd_call_measure() runs */
	struct msd_known
		*known; /* in use by this request; then params and options are empty */
	struct msd_span params; /* in bytes */
	struct msd_span options;
	struct msd_func *func;      /* function of a call, if already known */
	struct msd_span names;      /* names of a call's arguments; empty: positional */
	struct msd_handle instance; /* instance to call; 0: the module */
	uint64_t deadline_ns;       /* msd_now_ns(); 0: none */
	uint64_t sent_ns; /* traced calls only: when it was sent; otherwise 0 */
	/* Arrival time; set for direct peers, and if calls wait to be joined. */
	uint64_t came_ns;
	struct msd_slot payload; /* a direct peer's tensors; p NULL: none */
	uint64_t payload_bytes;
	uint64_t held_bytes;      /* bytes counted for it, direct peers only */
	struct msd_device device; /* device of the call; type 0: that of the module */
	uint8_t *bytes;           /* owned copy of the body */
	size_t cap;
};

/* The result of a call with the option `repeat`, in the arena. */
struct msd_call_times {
	const double *mean_s; /* of each series */
	uint32_t n;
	uint64_t n_runs; /* all runs, the first one too */
};

/* Settings and state of joined calls: batch.h. */
struct msd_batch {
	uint64_t most_rows; /* 0: no calls are joined */
	uint64_t within_ns; /* maximum wait of the first call for more */
	size_t n_apart;     /* calls at the front of the queue that must run alone */
	uint64_t n_rows; /* rows of the first call, which must run alone; 0: unknown */
	uv_timer_t due;  /* runs the queue after the first call's wait */
	uv_timer_cb on_due;
};

/* Waiting for the next request: busy_poll.h. */
struct msd_busy_poll {
	struct msd_spin spin;
	uv_idle_t idle;
	bool has_run;   /* a request ran since the loop last waited */
	bool is_guests; /* it was a direct peer's */
};

struct msd_worker {
	struct msd_wire wire;
	int channel_fd;     /* descriptor number of every channel */
	int first_guest_fd; /* first number of the direct peers; 0: any numbers */
	struct msd_takeover_socket door; /* accepts the next supervisor */
	uv_timer_t idle;  /* frees memory after a time without requests */
	uv_check_t check; /* runs the queue after the frames of an iteration are read */
	uv_timer_t stall; /* peer_timeout.h */
	uint64_t looked_ms; /* its last check */
	uv_idle_t awake;    /* keeps the loop awake after direct peers' frames */
	struct msd_busy_poll spinning;
	struct msd_list peers;  /* msd_peer.link */
	uint64_t round;         /* current round: fair_queue.h */
	struct msd_list spare;  /* msd_request.link, for reuse */
	struct msd_buf reply;   /* body of the current reply; kept for the next */
	uint64_t last_pause_ns; /* when replies were last sent and frames drained */
	uint64_t last_end_ns;   /* when a function last returned */
	struct msd_call_times
		times;             /* of a measured call, until its reply is written */
	uint64_t last_run_ns;      /* duration of that run */
	struct msd_ledger *ledger; /* shared with the supervisor; NULL: not yet */
	/* the module, from worker.open on */
	int artifact_fd;
	struct msd_span file; /* mapped; without parts that follow the model */
	size_t mapped_bytes;  /* from the begin of `file` on */
	char name[MSD_MAX_NAME_BYTES + 1];
	struct msd_sandbox sandbox; /* the sandbox in effect */
	struct msd_loaded *module;  /* NULL before worker.open */
	struct msd_funcs funcs;
	struct msd_batch batch;
	uint64_t shared_weights; /* bytes: weights.h */
	uint64_t max_out;     /* per peer: bytes of results, and of resident tensors */
	bool has_pins;        /* its device copies from and to segments directly:
				 pinned_segments.h */
	bool has_unpinned;    /* a range was refused and logged */
	bool has_told_graphs; /* gauges.h */
	/* reused by every call */
	struct msd_arena arena;
	struct msd_diag diag;
};

/** Queue a frame's request, with a direct peer's payload. False if memory is short. */
MSD_MUST_CHECK bool msd_worker_queue(struct msd_worker *w, struct msd_peer *peer,
				     const struct msd_in *in);
/** Drop a request that has not started; it is answered CANCELLED. */
void msd_worker_cancel(struct msd_worker *w, struct msd_peer *peer, uint64_t id);
/** Drop all requests of a peer that is gone. */
void msd_worker_forget(struct msd_worker *w, struct msd_peer *peer);
/** Move a request from the queue to the spare ones; large bodies are freed. */
void msd_worker_recycle(struct msd_worker *w, struct msd_request *r);
/** Write the response for @err. */
void msd_worker_write_error(struct msd_buf *out, const struct msd_request *r,
			    msd_err err, const struct msd_diag *d);
/** Answer @r with an error. */
void msd_worker_reply_error(const struct msd_request *r, msd_err err,
			    const struct msd_diag *d);

/**
 * Take a connected socket (consumed in every case) as a peer with all rights of the
 * supervisor.
 */
MSD_MUST_CHECK msd_err msd_peer_open(struct msd_worker *w, int fd, bool is_channel,
				     struct msd_diag *d);

#endif
