#ifndef MSD_SUPERVISOR_PROCESS_H
#define MSD_SUPERVISOR_PROCESS_H
/*
 * One worker process: a child that is spoken to over a socketpair, its standard output
 * and error kept in the module's log. Dead when it exits or when its channel ends,
 * whichever comes first; then all that it started is killed.
 *
 * Reference-counted: the replica holds one reference, the process's own child one, and
 * every reply in flight to a client that points into its out segments one.
 */
#include "daemon/child/child.h"
#include "daemon/supervisor/module/house.h"
#include "daemon/supervisor/module/rss.h"
#include "daemon/supervisor/module/warm_ends.h"
#include "daemon/supervisor/request/deadline.h"
#include "daemon/wire/conn.h"
#include "daemon/wire/segmap.h"
#include "proto/recognise.h"

struct msd_in;
struct msd_ledger;
struct msd_replica;

/* What its owner is told. */
struct msd_process_ops {
	/** A frame on its channel. */
	void (*on_frame)(struct msd_replica *owner, struct msd_in *in);
	/** It wrote to standard output or error. */
	void (*on_output)(struct msd_replica *owner, const char *bytes, size_t n);
	/** Its end, once; msd_process.child tells how. May detach and unref it. */
	void (*on_lost)(struct msd_replica *owner);
};

/* What may be true of what its ledger tells beyond what was counted: it grows with the
 * time that passes. */
struct msd_ledger_left {
	uint64_t from_ns, at_ns; /* when the ledger was made, and last looked at */
	uint64_t calls;
	struct {
		uint64_t n, ns;
	} wait, run, spun;
};

struct msd_process {
	struct msd_house *house;
	const struct msd_process_ops *ops;
	struct msd_replica *replica; /* its owner; NULL once that let go */
	struct msd_child *child;     /* owned; NULL once its end was told */
	struct msd_conn channel;
	struct msd_memory answers; /* their plans are struct msd_answer_plan */
	struct msd_segmap out;     /* the worker's out segments, mapped read-only */
	uint64_t held_bytes;     /* of its out slots, in replies that are being sent */
	uint64_t sent_bytes;     /* of them, since msd_process_cool() */
	struct msd_buf releases; /* a worker.release, as far as it goes */
	size_t releases_at;      /* of its pairs */
	uint32_t n_releases;     /* pairs */
	uint64_t release_bytes;
	struct msd_deadline release_timer;
	struct msd_list left; /* msd_held.link: replies whose clients are gone */
	struct msd_deadline left_timer;
	struct msd_deadline exit_timer; /* msd_process_await_exit() */
	const char *exit_reason;        /* why it is killed then */
	char breach[128];               /* "it broke the protocol: ..."; "": not yet */
	struct msd_rss rss;             /* for lists of modules */
	pid_t listed;              /* its number in the one that is written; 0: none */
	struct msd_list lent;      /* what clients lend: pass.c's */
	struct msd_list directs;   /* msd_direct.link: direct.h's */
	struct msd_ledger *ledger; /* of their calls, shared; NULL: none yet */
	struct msd_ledger *ledger_seen; /* owned: as it was, what was counted of it */
	struct msd_ledger_left ledger_left;
	struct msd_deadline ledger_timer;
	struct msd_warm_ends warm;
	uint32_t refs;
	bool is_channel_closed;
};

/**
 * Start a worker of the module @name for @owner, on the artifact @artifact_fd, which is
 * borrowed. On success *@ret has one reference for the caller. Errors: MSD_IO,
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_process_spawn(struct msd_house *house, char *name,
					 int artifact_fd,
					 const struct msd_process_ops *ops,
					 struct msd_replica *owner,
					 struct msd_process **ret, struct msd_diag *d);
void msd_process_ref(struct msd_process *p);
void msd_process_unref(struct msd_process *p);
/** SIGKILL to the process group; @reason explains it in error texts. */
void msd_process_kill(struct msd_process *p, const char *reason);
/** After its end, for people: what it was killed for, or what it had done wrong, and
 * how it ended then. */
void msd_process_describe_end(const struct msd_process *p, struct msd_buf *out);
/** It has said its last: kill it for @reason, which is static text, unless it exits
 * soon by itself. */
void msd_process_await_exit(struct msd_process *p, const char *reason);
/** Kill it for @reason, which is static text, unless msd_process_stay() comes before.
 */
void msd_process_end_in(struct msd_process *p, uint64_t in_ms, const char *reason);
static inline void msd_process_stay(struct msd_process *p)
{
	msd_deadline_clear(p->house->deadlines, &p->exit_timer);
}
/** Let it live, for the next daemon: to its owner it is lost, on a later turn. False:
 * nobody keeps it. */
MSD_MUST_CHECK bool msd_process_leave(struct msd_process *p);
/** The replica is gone or has another process: no more callbacks to it. */
void msd_process_detach(struct msd_process *p);
/** Tell the worker about out slots that are free again; batched. */
void msd_process_release(struct msd_process *p, uint16_t segment, uint64_t offset,
			 uint64_t bytes);
/** Send the batched releases now (before a request that may need the room). */
void msd_process_flush_releases(struct msd_process *p);
/** What was sent of its out segments is no longer in our own memory. */
void msd_process_cool(struct msd_process *p);
/** It can still be spoken to. */
static inline bool msd_process_is_running(const struct msd_process *p)
{
	return p->child != NULL && !p->child->has_exited;
}

#endif
