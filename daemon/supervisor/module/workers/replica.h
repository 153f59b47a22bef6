#ifndef MSD_SUPERVISOR_REPLICA_H
#define MSD_SUPERVISOR_REPLICA_H
/*
 * One worker of a module: its process, the requests sent to it, and the start of the
 * next process after its death. A module has as many as its load asked for
 * (`workers`), all with the same file and options. Queued requests belong to the
 * module; queue.c assigns them.
 *
 *   (no process) --start--> (opening) --opened--> is_open
 *        ^                      |                    |
 *        '-------- death, back-off; reported to the module as lost
 */
#include "daemon/supervisor/module/workers/worker_group.h"

/* A request that runs for this time may hang: a request sent behind it gains nothing,
 * and may be lost with it. */
#define MSD_REPLICA_LONG_MS 1000u

/* Each of 64 sent requests has a bucket of its own. Notifications, such as freed
 * objects, are in addition and have no limit of their own. */
#define MSD_SENT_BUCKETS 256u

struct msd_replica {
	struct msd_worker_group *group;
	uint32_t number;             /* from 1, for the log */
	struct msd_process *process; /* NULL without a process */
	struct msd_list sent;        /* msd_req.link, in the order of sending */
	struct msd_list by_wid[MSD_SENT_BUCKETS]; /* msd_req.at.wid_link: the same */
	struct msd_list client_queues; /* msd_client_queue.link: those with this home */
	uint32_t n_sent;               /* worker.open is not counted */
	uint32_t n_bound;       /* client queues with this home, also empty ones */
	uint64_t head_since_ms; /* when the first sent request became the first */
	uint64_t ahead_us;      /* expected time of all sent requests */
	bool is_open;           /* the process has the artifact open */
	bool is_bound_turn;     /* the next request is a bound one */
	bool is_taken; /* the process is a kept one that resumes or has resumed */
	/* Why the process is killed for its current request. */
	enum msd_run_end ended_for;
	uint64_t next_wid;
	struct msd_deadline timer;     /* for the life cycle: load timeout, back-off */
	struct msd_deadline run_timer; /* owned by run_watch.c */
};

/** Return its index in the group, from 0. */
static inline uint32_t msd_replica_index(const struct msd_replica *rep)
{
	return (uint32_t)(rep - rep->group->replicas);
}

/**
 * Initialize worker @number, from 1, of @group, which outlives it. It has no process
 * yet.
 */
void msd_replica_init(struct msd_replica *rep, struct msd_worker_group *group,
		      uint32_t number);
/**
 * Take over a kept process with the same start options, or start one and send
 * worker.open. If the kept one does not resume, a fresh one replaces it without a
 * report.
 */
MSD_MUST_CHECK msd_err msd_replica_start(struct msd_replica *rep, struct msd_diag *d);
/** Kill the process, if it exists; @reason is for error texts. */
void msd_replica_kill(struct msd_replica *rep, const char *reason);
/**
 * Kill a process that broke CHANNEL.md, with the reason "@what: the text of @d"
 * (NULL: only @what), or that is no longer waited for. Its unread messages are
 * dropped.
 */
void msd_replica_disbelieve(struct msd_replica *rep, const char *what,
			    const struct msd_diag *d);
/** Kill the process because its request, which ran for @ran_ms, must stop, for @why. */
void msd_replica_end_for(struct msd_replica *rep, enum msd_run_end why,
			 uint64_t ran_ms);
/** True if a client waits for a response of it. */
bool msd_replica_is_awaited(const struct msd_replica *rep);
/**
 * True if it runs @r, which was sent to it. It runs requests in the order of sending,
 * apart from calls on direct channels.
 */
bool msd_replica_runs(const struct msd_replica *rep, const struct msd_req *r);
/**
 * True if no request should be sent to it: it is stuck in an abandoned call or a long
 * call on a direct channel, or has closed its channel.
 */
bool msd_replica_is_stuck(const struct msd_replica *rep);

/* channel.c */
/** Send worker.open, or worker.resume: the first request. */
void msd_replica_send_open(struct msd_replica *rep);
/** Report an in segment to it; @fd is borrowed. */
void msd_replica_send_segment(void *rep, uint16_t index, int fd, uint64_t bytes);
/**
 * Send @r, which is in no list, and take it. False: out of memory, and @r is
 * unchanged.
 */
MSD_MUST_CHECK bool msd_replica_post(struct msd_replica *rep, struct msd_req *r);
/** Cancel a sent request: no client waits for it. The worker is notified once. */
void msd_replica_cancel(struct msd_req *r);

/** Handle a frame from the process. */
void msd_replica_on_frame(struct msd_replica *rep, struct msd_in *in);
/** Its process is gone, or could not be created: @how, if the process has no cause. */
void msd_replica_on_lost(struct msd_replica *rep, const char *how);

#endif
