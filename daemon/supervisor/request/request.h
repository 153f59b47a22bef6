#ifndef MSD_SUPERVISOR_REQUEST_H
#define MSD_SUPERVISOR_REQUEST_H
/*
 * One request of a client that a module's worker answers, or that waits for an event.
 * request_step.h defines its states. It does not depend on sessions or modules: the
 * client is a msd_client, and the owner gets callbacks through msd_req_ops.
 *
 * Two functions end it. msd_req_answer*() answers the client once; later answers are
 * dropped. msd_req_apply() with an event that leads to OVER frees it and releases its
 * resources. A request whose client is gone lives until the worker responds.
 */
#include "daemon/loop/account.h"
#include "daemon/stream/conn.h"
#include "daemon/supervisor/request/deadline.h"
#include "daemon/supervisor/request/peer_id.h"
#include "daemon/supervisor/request/placement.h"
#include "daemon/supervisor/request/request_step.h"
#include "proto/base/diag.h"
#include "proto/dtype.h"
#include "proto/method.h"
#include "proto/value.h"

struct msd_dependency;
struct msd_client;
struct msd_known;
struct msd_client_queue;
struct msd_segment_lookup;
struct msd_module;
struct msd_process;
struct msd_replica;
struct msd_req;
struct msd_written;

/* An object in a worker's result. */
struct msd_reply_object {
	uint32_t at;              /* offset of its data in the result */
	struct msd_handle handle; /* the worker's, then the client's */
};

/* Callbacks that answer a client. */
struct msd_client_ops {
	/** Send the answer to request @id; borrowed msgpack. */
	void (*reply)(struct msd_client *c, uint64_t id, const struct msd_buf *result);
	void (*reply_error)(struct msd_client *c, uint64_t id,
			    const struct msd_diag *why);
	/**
	 * Send the answer to @r as a whole frame; takes @o. If the client gets
	 * another result, the callback sets client.code; if the result is not known
	 * yet, it defers the accounting
	 * (daemon/supervisor/module/stats/call_accounting.h).
	 */
	void (*forward)(struct msd_client *c, struct msd_req *r, struct msd_out *o);
	/**
	 * Buffer for an answer of @n bytes, the whole frame, that is sent at once:
	 * msd_conn_put(). NULL: use forward(). Optional.
	 */
	uint8_t *(*put)(struct msd_client *c, size_t n, struct msd_written *w);
	/**
	 * Give @c the @n objects, which the worker of @r has made, and replace their
	 * handles by those of @c: all or none. Optional. Errors: MSD_BUSY, MSD_NOMEM.
	 */
	msd_err (*take_objects)(struct msd_client *c, struct msd_req *r,
				struct msd_reply_object *objects, uint32_t n,
				struct msd_diag *d);
	/**
	 * The worker at the other end of a direct channel, process @pid, is lost. For
	 * clients with direct channels.
	 */
	void (*on_direct_lost)(struct msd_client *c, uint64_t pid,
			       const struct msd_diag *why);
	/**
	 * Check if @c may still begin @r, which waits. Optional; errors: as at the
	 * start of the request.
	 */
	msd_err (*may_still)(struct msd_client *c, const struct msd_req *r,
			     struct msd_diag *d);
	/** A request is no longer in flight: @r, whose payload may still be arriving.
	 */
	void (*on_done)(struct msd_client *c, const struct msd_req *r);
};

/* A client. Embedded by the owner of the connection. */
struct msd_client {
	const struct msd_client_ops *ops;
	struct msd_list requests; /* msd_req.client.link */
	struct msd_list
		client_queues;   /* msd_client_queue.client_link: queues at modules */
	struct msd_list directs; /* msd_direct.client_link: direct channels */
	uint64_t direct_used_ms; /* last use of a direct channel; 0: never */
	uint32_t n_in_flight;
	bool takes_objects;    /* results may hold objects and maps */
	uint64_t tensor_bytes; /* claimed for its requests: msd_req_reserve() */
	uint64_t *n_together; /* shared total of clients counted together; NULL: none */
	uint64_t number; /* number of its connection, for display; 0: no connection */
	struct msd_peer_id peer;    /* the peer that limits apply to */
	struct msd_account account; /* of its requests and replies */
};

/* Callbacks to the owner of a request, a module. */
struct msd_req_ops {
	/** Set the reason why it missed its deadline, waiting or running. */
	void (*explain_due)(const struct msd_req *r, struct msd_diag *d);
	/**
	 * The request is not wanted any more: cancel it in the worker, which still
	 * has it.
	 */
	void (*cancel)(struct msd_req *r);
	/**
	 * The deadline that only limits the wait for the module has passed: the wait
	 * is over. Returns false if it continues to wait.
	 */
	bool (*has_waited)(struct msd_req *r);
	/** It was sent, and its client is gone. */
	void (*on_unawaited)(struct msd_req *r);
	/** Its client has the answer, or is gone; client.who is still valid. */
	void (*on_answered)(struct msd_req *r);
	/** It is being freed: release the owner's data. It is in no list any more. */
	void (*on_freed)(struct msd_req *r);
};

#define MSD_REQ_STAGES 4u /* of daemon/supervisor/module/stats/call_stats.h */
#define MSD_REQ_UNANSWERED MSD_ERR_COUNT /* client left before the answer */

/* The client's side of a request. */
struct msd_req_client {
	struct msd_client *who; /* NULL: no client waits for the answer */
	struct msd_list link;   /* msd_client.requests */
	uint64_t id;            /* the client's id */
	/* The peer of a sent request that was answered or whose client is gone: a
	 * later crash of the worker is counted for this peer. */
	struct msd_peer_id peer;
	uint64_t held_bytes; /* charged to the client until it has its answer */
	/* The result: an msd_err, or MSD_REQ_UNANSWERED. */
	uint8_t code;
	bool is_put_off; /* the result is known later, and counted then */
};

struct msd_req_due {
	struct msd_deadline node;
	struct msd_deadlines *all; /* NULL: never set */
	uint64_t in_ms;            /* deadline given by the client, if any */
	bool is_clients;           /* the client gave a deadline */
	bool is_at_leave;          /* it expires when no client waits any more */
	bool is_for_ready;         /* it limits only the wait for the module */
};

/* The request to the worker, and the handler of its response. */
struct msd_req_job {
	struct msd_known *known; /* cached body: call_template.h; NULL: use `params` */
	struct msd_buf params;   /* tensors patched */
	struct msd_buf passed;   /* options of a call for the worker: keys and values */
	struct msd_handle instance; /* of a call, the worker's; generation 0: none */
	struct msd_device device;   /* of a call; type 0: the module's device */
	/** Handles the worker's response; NULL: it is forwarded unchanged. */
	void (*on_response)(struct msd_req *r, struct msd_in *in);
};

/* Its state in its module. */
struct msd_req_at {
	struct msd_client_queue *client_queue; /* while it is queued for a worker */
	struct msd_replica *replica;           /* worker that it was sent to */
	struct msd_process *needs; /* owner of its objects; a reference, or NULL */
	uint64_t wid;              /* its id on the worker's channel */
	struct msd_list wid_link;  /* msd_replica.by_wid, while it is sent */
	uint64_t makes_bytes;      /* size of the resident tensor that it creates */
	uint64_t left_ms;     /* when its client left after it was sent; 0: not yet */
	uint32_t expected_us; /* estimated time, counted in its queue or worker */
	uint32_t n_passed;    /* options in job.passed */
	uint64_t began_ns;    /* start of its first stage
				 (daemon/supervisor/module/stats/call_accounting.h) */
	uint64_t since_ns;    /* start of its current stage; 0: not timed */
	uint64_t spent_ns[MSD_REQ_STAGES]; /* in finished stages */
	uint8_t function;                  /* a call's row in its module's statistics */
	uint8_t stage;                     /* current stage */
	bool is_unordered;      /* it may overtake other requests of its client */
	bool is_background;     /* a call with lower priority than all other calls */
	bool holds;             /* counted in n_held of its client queue */
	bool is_copy_to_device; /* a tensor.copy that creates a resident tensor */
	bool is_cancelled;      /* the worker was told to cancel it */
	bool is_traced;         /* a call whose client requested its stage times */
};

struct msd_req {
	struct msd_list link; /* in a client queue, the sent requests, or waiters */
	const struct msd_req_ops *ops; /* of the owner; NULL: no owner */
	struct msd_module *module;     /* the owner */
	enum msd_method method;
	enum msd_req_state state; /* written only by msd_req_apply() */
	struct msd_req_client client;
	struct msd_req_due due;
	struct msd_placement placement; /* memory of its tensors */
	struct msd_segment_lookup
		*lending;               /* client segments that it names; NULL: none */
	struct msd_dependency *awaited; /* results that it depends on; NULL: none */
	struct msd_req_job job;
	struct msd_req_at at;
};

/**
 * Initialize a client without requests. @ops, borrowed, deliver answers. The caller
 * sets peer and account.
 */
void msd_client_init(struct msd_client *c, const struct msd_client_ops *ops);
/**
 * Detach all its requests: queued requests are freed, sent requests finish without a
 * client.
 */
void msd_client_leave(struct msd_client *c);
/** The same for one of them. False: it had none. */
bool msd_client_leave_one(struct msd_client *c);

/**
 * Check if @c may have one more request of @method in flight on @m: one loop
 * iteration answers all of them. Errors: MSD_BUSY (@most is reached).
 */
MSD_MUST_CHECK msd_err msd_client_may_wait(const struct msd_client *c,
					   enum msd_method method,
					   const struct msd_module *m, uint32_t most,
					   struct msd_diag *d);

/**
 * Create a QUEUED request of @c; NULL for a request without client. Returns NULL if
 * out of memory.
 */
struct msd_req *msd_req_new(struct msd_client *c, uint64_t id, enum msd_method method);
/**
 * The same for a request that waits outside of a queue: its own memory is charged to
 * @c until it is answered.
 */
struct msd_req *msd_req_new_waiting(struct msd_client *c, uint64_t id,
				    enum msd_method method);
/**
 * True if its worker may be killed for it: at its deadline, or when no client waits
 * any more.
 */
static inline bool msd_req_may_kill(const struct msd_req *r)
{
	return r->due.is_clients || r->due.is_at_leave;
}
/** Charge @bytes to @r's client until it has its answer. */
void msd_req_hold(struct msd_req *r, uint64_t bytes);
/** msd_placement_reserve(), counted in the total of @r's client. */
MSD_MUST_CHECK msd_err msd_req_reserve(struct msd_req *r, struct msd_budget *budget,
				       struct msd_segpool *pool, uint64_t payload_bytes,
				       struct msd_diag *d);
/** msd_placement_reduce() and msd_placement_restore(), counted in the same way. */
void msd_req_reduce(struct msd_req *r, uint64_t keep_bytes);
MSD_MUST_CHECK msd_err msd_req_restore(struct msd_req *r, uint64_t payload_bytes,
				       uint64_t came_bytes, bool stays,
				       struct msd_diag *d);
/** Fire MSD_REQ_DUE in @in_ms; @all stays its heap. */
void msd_req_set_due(struct msd_req *r, struct msd_deadlines *all, uint64_t in_ms);
/** The same @in_ms after @from_ms of loop time: a time in the past is due at once. */
void msd_req_set_due_from(struct msd_req *r, struct msd_deadlines *all,
			  uint64_t from_ms, uint64_t in_ms);
/** The client of @r has cancelled it (@e is CANCELLED) or is gone (ORPHANED). */
void msd_req_abandon(struct msd_req *r, enum msd_req_event e);
/** Execute the actions of @e: the second half of msd_req_apply(), its only caller. */
void msd_req_act(struct msd_req *r, enum msd_req_event e, unsigned actions);
/**
 * Apply the event and its actions, which may free @r. For SETTLED, RESPONDED and LOST
 * the caller must have answered before.
 */
static inline void msd_req_apply(struct msd_req *r, enum msd_req_event e)
{
	const struct msd_req_move move = msd_req_step(r->state, e);

	r->state = (enum msd_req_state)move.to;
	if (move.actions != 0)
		msd_req_act(r, e, move.actions);
}
/** The client has its answer, or is gone: detach it. */
void msd_req_leave_client(struct msd_req *r);
/** Answer with an error and detach the client; the request itself lives on. */
void msd_req_answer_error(struct msd_req *r, msd_err err, const char *text);
/** The same with all details of @why; for MSD_BUSY this includes the retry time. */
void msd_req_answer_failure(struct msd_req *r, const struct msd_diag *why);
/** Answer with a msgpack result and detach the client. */
void msd_req_answer(struct msd_req *r, const struct msd_buf *result);
void msd_req_answer_nil(struct msd_req *r);
/** Answer a QUEUED request with an error and free it. */
void msd_req_refuse(struct msd_req *r, msd_err err, const char *text);
void msd_req_refuse_for(struct msd_req *r, const struct msd_diag *why);
/**
 * If the client of a QUEUED request has lost the right to it since, reject it and
 * return true. Call it before the result of a wait is sent.
 */
MSD_MUST_CHECK bool msd_req_lost_right(struct msd_req *r);
/**
 * Free a QUEUED request; if it was not answered, another part of the code answers it.
 */
static inline void msd_req_release(struct msd_req *r)
{
	msd_req_apply(r, MSD_REQ_SETTLED);
}

#endif
