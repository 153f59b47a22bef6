#ifndef MSD_SUPERVISOR_PROCESS_H
#define MSD_SUPERVISOR_PROCESS_H
/*
 * One worker process: a child with a socketpair as its channel. Its standard output
 * and error go to the module's log. It is dead when it exits or its channel ends,
 * whichever is first; then all its descendants are killed.
 *
 * Reference-counted. The replica holds one reference, the child one, and every reply
 * in flight to a client that points into its out segments one.
 */
#include "daemon/child/child.h"
#include "daemon/segments/segmap.h"
#include "daemon/stream/conn.h"
#include "daemon/supervisor/module/handover/handover_fds.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/stats/rss.h"
#include "daemon/supervisor/request/deadline.h"
#include "proto/recognise.h"

struct msd_in;
struct msd_ledger;
struct msd_replica;

/* Callbacks of its owner. */
struct msd_process_ops {
	/** A frame arrived on its channel. */
	void (*on_frame)(struct msd_replica *owner, struct msd_in *in);
	/** It wrote to standard output or error. */
	void (*on_output)(struct msd_replica *owner, const char *bytes, size_t n);
	/**
	 * It ended; called once. msd_process.child has the cause. May detach and
	 * unref it.
	 */
	void (*on_lost)(struct msd_replica *owner);
};

/* Upper limits for what the ledger may report beyond the counted calls; they grow
 * with time. */
struct msd_ledger_left {
	uint64_t from_ns, at_ns; /* when the ledger was created, and last read */
	struct msd_ledger_part {
		uint64_t n, ns;
	} calls, wait, run, spun;
};

struct msd_process {
	struct msd_module_registry *registry;
	const struct msd_process_ops *ops;
	struct msd_replica *replica; /* its owner; NULL when detached */
	struct msd_child *child;     /* owned; NULL after its end was reported */
	struct msd_conn channel;
	struct msd_memory answers; /* reply cache: struct msd_reply_template */
	struct msd_segmap out;     /* the worker's out segments, mapped read-only */
	uint64_t held_bytes;       /* of its out slots, in replies in flight */
	uint64_t sent_bytes;       /* of its out slots, since msd_process_cool() */
	struct msd_buf releases;   /* a worker.release message, so far */
	size_t releases_at;        /* offset of its pairs */
	uint32_t n_releases;       /* number of pairs */
	uint64_t release_bytes;
	struct msd_deadline release_timer;
	struct msd_list
		left; /* msd_reply_slots.link: replies of clients that are gone */
	struct msd_deadline left_timer;
	struct msd_deadline exit_timer; /* msd_process_await_exit() */
	const char *exit_reason;        /* why it is killed then */
	char breach[128];   /* "it broke the protocol: ..."; "": not so far */
	struct msd_rss rss; /* for module listings */
	pid_t listed;       /* its pid in the listing being built; 0: not in it */
	struct msd_list
		lent; /* client segments passed to it; owned by segment_pass.c */
	struct msd_list directs;        /* msd_direct.link; see direct.h */
	struct msd_ledger *ledger;      /* of its direct calls, shared; NULL: not yet */
	struct msd_ledger *ledger_seen; /* owned: copy of the counted state */
	struct msd_ledger_left ledger_left;
	struct msd_deadline ledger_timer;
	struct msd_handover_ends warm;
	uint32_t refs;
	bool is_channel_closed;
};

/**
 * Start a worker of the module @name for @owner, with the artifact @artifact_fd,
 * borrowed. On success *@ret holds one reference for the caller. Errors: MSD_IO,
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_process_spawn(struct msd_module_registry *registry,
					 char *name, int artifact_fd,
					 const struct msd_process_ops *ops,
					 struct msd_replica *owner,
					 struct msd_process **ret, struct msd_diag *d);
void msd_process_ref(struct msd_process *p);
void msd_process_unref(struct msd_process *p);
/** Send SIGKILL to the process group; @reason explains it in error texts. */
void msd_process_kill(struct msd_process *p, const char *reason);
/**
 * After its end: append for error texts why it was killed, or how it broke the
 * protocol, and how it ended.
 */
void msd_process_describe_end(const struct msd_process *p, struct msd_buf *out);
/**
 * It sent its last message: kill it for @reason, which is static text, unless it
 * exits soon.
 */
void msd_process_await_exit(struct msd_process *p, const char *reason);
/**
 * Kill it after @in_ms for @reason, which is static text, unless msd_process_stay()
 * is called before.
 */
void msd_process_end_in(struct msd_process *p, uint64_t in_ms, const char *reason);
static inline void msd_process_stay(struct msd_process *p)
{
	msd_deadline_clear(p->registry->deadlines, &p->exit_timer);
}
/**
 * Let it live for the next daemon. Its owner gets on_lost on a later iteration.
 * False: the service manager does not keep it.
 */
MSD_MUST_CHECK bool msd_process_leave(struct msd_process *p);
/** The replica is gone or has another process: no more callbacks to it. */
void msd_process_detach(struct msd_process *p);
/** Report out slots that are free again to the worker; batched. */
void msd_process_release(struct msd_process *p, uint16_t segment, uint64_t offset,
			 uint64_t bytes);
/** Send the batched releases now (before a request that may need the room). */
void msd_process_flush_releases(struct msd_process *p);
/** Drop the pages of its sent out segments from the supervisor's memory. */
void msd_process_cool(struct msd_process *p);
/** True if its channel can be used. */
static inline bool msd_process_is_running(const struct msd_process *p)
{
	return p->child != NULL && !p->child->has_exited;
}

#endif
