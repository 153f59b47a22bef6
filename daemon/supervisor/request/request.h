#ifndef MSD_SUPERVISOR_REQUEST_H
#define MSD_SUPERVISOR_REQUEST_H
/*
 * One request of a client that a module's worker answers, or that waits for something.
 * Its states are request_step.h's. It knows neither sessions nor modules: who asks is a
 * msd_client, who has it is told through msd_req_ops.
 *
 * It is ended by two functions: msd_req_answer*() tells the client, once, everything
 * after is dropped; msd_req_take() with an event that leads to OVER frees it and gives
 * back what it holds. A request whose client is gone lives on until the worker answers.
 */
#include "daemon/supervisor/request/deadline.h"
#include "daemon/supervisor/request/peer_id.h"
#include "daemon/supervisor/request/placement.h"
#include "daemon/supervisor/request/request_step.h"
#include "daemon/wire/account.h"
#include "daemon/wire/conn.h"
#include "proto/diag.h"
#include "proto/dtype.h"
#include "proto/method.h"
#include "proto/value.h"

struct msd_awaited;
struct msd_client;
struct msd_known;
struct msd_lane;
struct msd_lending;
struct msd_module;
struct msd_process;
struct msd_replica;
struct msd_req;
struct msd_written;

/* How a client is told. */
struct msd_client_ops {
	/** The answer to its request @id; borrowed msgpack. */
	void (*reply)(struct msd_client *c, uint64_t id, const struct msd_buf *result);
	void (*reply_error)(struct msd_client *c, uint64_t id,
			    const struct msd_diag *why);
	/** The answer to @r as a whole frame; takes @o. Who tells the client something
	 * else writes that to client.code; who cannot say yet what it will be puts it
	 * off (module/counted.h). */
	void (*forward)(struct msd_client *c, struct msd_req *r, struct msd_out *o);
	/** Where an answer of @n bytes, which is all that its frame has, goes at once:
	 * msd_conn_put(). NULL: it is for forward(). Optional. */
	uint8_t *(*put)(struct msd_client *c, size_t n, struct msd_written *w);
	/** The worker that it had a channel of its own to, the process @pid, is lost.
	 * Of those that have such channels. */
	void (*on_direct_lost)(struct msd_client *c, uint64_t pid,
			       const struct msd_diag *why);
	/** Might @c begin @r, which waits, now? Optional; errors: as it was told then.
	 */
	msd_err (*may_still)(struct msd_client *c, const struct msd_req *r,
			     struct msd_diag *d);
	/** One request less is in flight: @r, whose payload may still be coming. */
	void (*on_done)(struct msd_client *c, const struct msd_req *r);
};

/* Who asks. Embedded by what has the connection. */
struct msd_client {
	const struct msd_client_ops *ops;
	struct msd_list requests; /* msd_req.client.link */
	struct msd_list lanes;    /* msd_lane.client_link: of the modules' queues */
	struct msd_list directs;  /* msd_direct.client_link: channels of its own */
	uint64_t direct_used_ms;  /* when one of those was last; 0: never */
	uint32_t n_in_flight;
	uint64_t tensor_bytes;      /* claimed for its requests: msd_req_place() */
	uint64_t *n_together;       /* of all that are counted with it; NULL: alone */
	uint64_t number;            /* of its connection, for people; 0: it has none */
	struct msd_peer_id peer;    /* as whom it is counted */
	struct msd_account account; /* of what its requests and replies hold */
};

/* How the owner of a request, a module, is told. */
struct msd_req_ops {
	/** Why it was not done by its deadline, whether it waited or ran. */
	void (*explain_due)(const struct msd_req *r, struct msd_diag *d);
	/** Nobody wants it: the worker is told, which has it still. */
	void (*cancel)(struct msd_req *r);
	/** The deadline of its wait for the module alone has come: it is over. False:
	 * it waits on. */
	bool (*has_waited)(struct msd_req *r);
	/** It was sent, and its client is gone. */
	void (*on_unawaited)(struct msd_req *r);
	/** Its client has the answer, or is gone; client.who is still there. */
	void (*on_answered)(struct msd_req *r);
	/** It is freed: drop what it holds of the owner's. It is in no list any more.
	 */
	void (*on_freed)(struct msd_req *r);
};

#define MSD_REQ_STAGES 4u                /* module/stage.h's */
#define MSD_REQ_UNANSWERED MSD_ERR_COUNT /* its client went before the answer */

/* What the client sees of it. */
struct msd_req_client {
	struct msd_client *who; /* NULL: nobody waits for the answer */
	struct msd_list link;   /* msd_client.requests */
	uint64_t id;            /* the client's */
	/* Whose it was, of one that was sent and has lost its client since, or was
	 * answered: what it may do to its worker yet is counted as theirs. */
	struct msd_peer_id peer;
	uint64_t held_bytes; /* charged to the client until it has its answer */
	/* What it was answered: an msd_err, or MSD_REQ_UNANSWERED. */
	uint8_t code;
	bool is_put_off; /* that is known later, and counted then */
};

struct msd_req_due {
	struct msd_deadline node;
	struct msd_deadlines *all; /* NULL: it was never set */
	uint64_t in_ms;            /* what the client gave, when it did */
	bool is_clients;           /* the client gave one */
	bool is_at_leave;          /* it has passed when nobody waits any more */
	bool is_for_ready;         /* it is the wait for the module alone */
};

/* What the worker gets, and what is done with its response. */
struct msd_req_job {
	struct msd_known
		*known;        /* it came before: job_plan.h; NULL: `params` has them */
	struct msd_buf params; /* tensors patched */
	struct msd_buf names;  /* of a call's arguments; empty: by place */
	struct msd_handle instance; /* of a call, the worker's; generation 0: none */
	struct msd_device device;   /* of a call; type 0: where the module is */
	/** The worker's response; NULL: forwarded to the client as it is. */
	void (*on_response)(struct msd_req *r, struct msd_in *in);
};

/* Where it is with its module. */
struct msd_req_at {
	struct msd_lane *lane;       /* while it is queued for a worker */
	struct msd_replica *replica; /* whom it was sent to */
	struct msd_process *needs;   /* whose objects it names; a reference, or NULL */
	uint64_t wid;                /* its id on the worker's channel */
	struct msd_list wid_link;    /* msd_replica.by_wid, while it is sent */
	uint64_t makes_bytes;        /* of the resident tensor that is its answer */
	uint64_t left_ms; /* since when nobody waits for it, of one that was sent; 0 */
	uint32_t expected_us; /* what it is counted with in its lane or its worker */
	uint64_t began_ns;    /* when its first stage began (module/counted.h) */
	uint64_t since_ns;    /* when the one that it is in did; 0: it is not timed */
	uint64_t spent_ns[MSD_REQ_STAGES]; /* in those that are over */
	uint8_t function;                  /* a call's row of its module's tally */
	uint8_t stage;                     /* that it is in */
	bool is_unordered;                 /* it need not follow its client's others */
	bool is_background;                /* a call that may wait for all others */
	bool holds;                        /* counted in its lane's n_held */
	bool is_copy_to_device; /* a tensor.copy that makes a resident tensor */
	bool is_cancelled;      /* the worker was told that nobody wants it */
	bool is_traced;         /* a call whose client wants to know its stages */
};

struct msd_req {
	struct msd_list link; /* of who has it: a lane, what was sent, waiters */
	const struct msd_req_ops *ops; /* the owner's; NULL: it has none */
	struct msd_module *module;     /* that owner */
	enum msd_method method;
	enum msd_req_state state; /* written by msd_req_take() alone */
	struct msd_req_client client;
	struct msd_req_due due;
	struct msd_placement placement; /* of what its tensors take */
	struct msd_lending *lending;    /* segments that it names; NULL: none */
	struct msd_awaited *awaited;    /* results that it waits for; NULL: none */
	struct msd_req_job job;
	struct msd_req_at at;
};

/** A client without requests, which @ops, borrowed, tell of answers. Who embeds it sets
 * peer and account. */
void msd_client_init(struct msd_client *c, const struct msd_client_ops *ops);
/** All its requests lose it: what is queued is freed, what was sent runs on for nobody.
 */
void msd_client_leave(struct msd_client *c);

/** Whether @c, which has @method in flight on @m so often, may have it once more: what
 * answers all of them does it in one turn of the loop. Errors: MSD_BUSY, at @most. */
MSD_MUST_CHECK msd_err msd_client_may_wait(const struct msd_client *c,
					   enum msd_method method,
					   const struct msd_module *m, uint32_t most,
					   struct msd_diag *d);

/** A QUEUED request of @c, NULL for one that nobody waits for. NULL: out of memory. */
struct msd_req *msd_req_new(struct msd_client *c, uint64_t id, enum msd_method method);
/** The same of one that waits for something else than its turn in a queue: what it
 * takes itself is charged to @c, for as long as it waits for the answer. */
struct msd_req *msd_req_new_waiting(struct msd_client *c, uint64_t id,
				    enum msd_method method);
/** May its worker be ended for it: by its deadline, or when nobody waits any more? */
static inline bool msd_req_may_kill(const struct msd_req *r)
{
	return r->due.is_clients || r->due.is_at_leave;
}
/** Charge @bytes to @r's client, for as long as it waits for the answer. */
void msd_req_hold(struct msd_req *r, uint64_t bytes);
/** msd_placement_take(), counted with what @r's client has of it. */
MSD_MUST_CHECK msd_err msd_req_place(struct msd_req *r, struct msd_budget *budget,
				     struct msd_segpool *pool, uint64_t payload_bytes,
				     struct msd_diag *d);
/** msd_placement_reduce() and msd_placement_restore(), likewise. */
void msd_req_reduce(struct msd_req *r, uint64_t keep_bytes);
MSD_MUST_CHECK msd_err msd_req_restore(struct msd_req *r, uint64_t payload_bytes,
				       uint64_t came_bytes, bool stays,
				       struct msd_diag *d);
/** MSD_REQ_DUE in @in_ms; @all stays its heap. */
void msd_req_set_due(struct msd_req *r, struct msd_deadlines *all, uint64_t in_ms);
/** The same @in_ms after @from_ms of the loop's time: what is past is due at once. */
void msd_req_set_due_from(struct msd_req *r, struct msd_deadlines *all,
			  uint64_t from_ms, uint64_t in_ms);
/** The client of @r wants it no more, or is gone: @e is CANCELLED or ORPHANED. */
void msd_req_abandon(struct msd_req *r, enum msd_req_event e);
/** Do what @e has led to: the second half of msd_req_take(), which nobody else calls.
 */
void msd_req_act(struct msd_req *r, enum msd_req_event e, unsigned actions);
/** Take the event and do what it asks for, freeing @r included. Of SETTLED, RESPONDED
 * and LOST the caller has given the answer before. */
static inline void msd_req_take(struct msd_req *r, enum msd_req_event e)
{
	const struct msd_req_move move = msd_req_step(r->state, e);

	r->state = (enum msd_req_state)move.to;
	if (move.actions != 0)
		msd_req_act(r, e, move.actions);
}
/** The client has its answer, or is gone: nothing more is owed to it. */
void msd_req_leave_client(struct msd_req *r);
/** Answer with an error and forget the client; the request itself goes on to live. */
void msd_req_answer_error(struct msd_req *r, msd_err err, const char *text);
/** The same with all that @why says: of MSD_BUSY, when to try again, too. */
void msd_req_answer_failure(struct msd_req *r, const struct msd_diag *why);
/** Answer with a result that is already msgpack; likewise. */
void msd_req_answer(struct msd_req *r, const struct msd_buf *result);
void msd_req_answer_nil(struct msd_req *r);
/** Answer a QUEUED one with an error and free it. */
void msd_req_refuse(struct msd_req *r, msd_err err, const char *text);
void msd_req_refuse_for(struct msd_req *r, const struct msd_diag *why);
/** The client of a QUEUED one has lost the right to ask for it since: it is refused.
 * Asked before it is told what it waited for. */
MSD_MUST_CHECK bool msd_req_lost_right(struct msd_req *r);
/** Free a QUEUED one; if it was not answered, somebody else does. */
static inline void msd_req_release(struct msd_req *r)
{
	msd_req_take(r, MSD_REQ_SETTLED);
}

#endif
