#ifndef MSD_SUPERVISOR_REQUEST_H
#define MSD_SUPERVISOR_REQUEST_H
/*
 * One request that a module's worker answers, or that waits for a module.
 *
 *   QUEUED --sent--> SENT --response--> (freed)
 *      |               |---deadline--> ABANDONED (answered; its slot is kept
 *      |               |               until the worker answers or dies)
 *      '--cancel, deadline, module gone--> (answered, freed)
 *
 * Exactly one reply per request: msd_req_answer* is called once, everything after is
 * dropped. A request whose session ended lives on as an orphan until the worker
 * answers.
 */
#include "daemon/supervisor/deadline.h"
#include "daemon/wire/segment.h"
#include "daemon/wire/conn.h"
#include "proto/dtype.h"
#include "proto/method.h"
#include "proto/value.h"

struct msd_session;
struct msd_module;
struct msd_process;
struct msd_replica;

enum msd_req_state { MSD_REQ_QUEUED, MSD_REQ_SENT, MSD_REQ_ABANDONED };

struct msd_req {
	struct msd_list link; /* lane, replica's sent list, or module's waiters */
	struct msd_list session_link; /* msd_session.requests */
	struct msd_session *session;  /* NULL: orphan, nobody waits for the answer */
	struct msd_module *module;    /* NULL until admitted */
	struct msd_lane *lane;        /* while it is queued for a worker */
	struct msd_replica *replica;  /* whom it was sent to */
	struct msd_process
		*needs; /* whose objects it names; one reference; NULL: none */
	bool holds;     /* counted in its lane's n_held */
	uint64_t id;    /* the client's */
	uint64_t wid;   /* on the worker's channel */
	enum msd_method method;
	enum msd_req_state state;
	struct msd_buf params;      /* what the worker gets, tensors patched */
	struct msd_handle instance; /* of a call, the worker's; generation 0: none */
	struct msd_buf names;     /* of a call's arguments: msgpack; empty: by place */
	struct msd_device device; /* of a call; type 0: where the module is */
	struct msd_slot slot;     /* payload, in the module's in segments */
	bool has_slot;
	bool waits_for_ready; /* the deadline is the wait for the module alone */
	bool has_deadline;    /* deadline_ms is the client's */
	uint64_t deadline_ms;
	uint64_t wanted_bytes;  /* arguments and declared outputs */
	uint64_t claimed_bytes; /* of the server's tensor memory */
	struct msd_deadline deadline;
	uint8_t pace;         /* msd_pace_place() of a call's target */
	uint32_t expected_us; /* of a sent one */
	/** The worker's response; NULL: forwarded to the client as it is. */
	void (*on_response)(struct msd_req *r, struct msd_in *in);
};

struct msd_req *msd_req_new(struct msd_session *s, uint64_t id, enum msd_method method);
/** @r names an object in the worker @p: it goes there, or nowhere. */
void msd_req_need(struct msd_req *r, struct msd_process *p);
/** Release slot, memory and places in lists; no answer is sent. */
void msd_req_free(struct msd_req *r);
/** Its session is gone: dropped when queued, else it runs on for nobody. */
void msd_req_orphan(struct msd_req *r);
/** The session has its answer, or is gone: nothing more is owed to it. */
void msd_req_leave_session(struct msd_req *r);
/** Answer with an error and forget the session; the request itself goes on to live. */
void msd_req_answer_error(struct msd_req *r, msd_err err, const char *text);
/** Answer with a result that is already msgpack; likewise. */
void msd_req_answer(struct msd_req *r, const struct msd_buf *result);
void msd_req_answer_nil(struct msd_req *r);

#endif
