#ifndef MSD_SUPERVISOR_REPLICA_H
#define MSD_SUPERVISOR_REPLICA_H
/*
 * One of a module's workers: its process, what that was sent, and the start of the next
 * one after its death. A module has as many as it was loaded with (`workers`), all of
 * the same file and options. What is queued is the module's; queue.c decides who
 * gets it.
 *
 *   (no process) --start--> (opening) --opened--> is_open
 *        ^                      |                    |
 *        '-------- death, back-off; told to the module as lost
 */
#include "daemon/supervisor/module/crew.h"

/* What has run for so long may hang: what is sent behind it gains nothing, and may be
 * lost with it. */
#define MSD_REPLICA_LONG_MS 1000u

/* Of 64 sent requests each has one to itself; what a worker is told beyond them, as
 * that objects are free, has no bound but theirs. */
#define MSD_SENT_BUCKETS 256u

struct msd_replica {
	struct msd_crew *crew;
	uint32_t number;             /* from 1, for the log */
	struct msd_process *process; /* NULL while there is none */
	struct msd_list sent;        /* msd_req.link, in the order of sending */
	struct msd_list by_wid[MSD_SENT_BUCKETS]; /* msd_req.at.wid_link: the same */
	struct msd_list lanes;  /* msd_lane.link: those that have this as their home */
	uint32_t n_sent;        /* worker.open is not counted */
	uint32_t n_bound;       /* lanes that have this as their home, idle ones too */
	uint64_t head_since_ms; /* the first that was sent is the first since then */
	uint64_t ahead_us;      /* what all that was sent is expected to take */
	bool is_open;           /* the process has the artifact open */
	bool is_bound_turn;     /* the next request is one of its own lanes' */
	bool is_taken;          /* the process was kept, and is to resume, or has */
	/* The process is killed for what it runs. */
	enum msd_run_end ended_for;
	uint64_t next_wid;
	struct msd_deadline timer;     /* the life's: load timeout, restart back-off */
	struct msd_deadline run_timer; /* run_watch.h's */
};

/** Which of its crew's it is, from 0 on. */
static inline uint32_t msd_replica_index(const struct msd_replica *rep)
{
	return (uint32_t)(rep - rep->crew->replicas);
}

/** Worker @number, from 1, of @crew, which outlives it. It has no process yet. */
void msd_replica_init(struct msd_replica *rep, struct msd_crew *crew, uint32_t number);
/** Take a process over that was kept and was started for the same, or start one and ask
 * it to open the artifact. One that does not resume is followed by a fresh one, of
 * which nobody is told. */
MSD_MUST_CHECK msd_err msd_replica_start(struct msd_replica *rep, struct msd_diag *d);
/** End the process, if there is one; @reason is for error texts. */
void msd_replica_kill(struct msd_replica *rep, const char *reason);
/** The same for a process that broke CHANNEL.md, for "@what: the text of @d" (NULL: no
 * more than @what), or that is not waited for any more: nothing that it has sent is
 * read. */
void msd_replica_disbelieve(struct msd_replica *rep, const char *what,
			    const struct msd_diag *d);
/** The same, for what it has run for @ran_ms and may not go on. */
void msd_replica_end_for(struct msd_replica *rep, enum msd_run_end why,
			 uint64_t ran_ms);
/** A response to somebody who still waits is to come. */
bool msd_replica_is_awaited(const struct msd_replica *rep);
/** @r, which was sent to it, is what it runs: it runs them in the order of sending, but
 * for calls of clients' own channels. */
bool msd_replica_runs(const struct msd_replica *rep, const struct msd_req *r);
/** For how long it has run what it runs of what was sent; 0 while it runs none. */
uint64_t msd_replica_ran_ms(const struct msd_replica *rep, uint64_t now_ms);
/** Nothing is sent to it now: it is stuck in a call that nobody waits for any more, or
 * in a long one of a client's own channel, or has hung up. */
bool msd_replica_is_stuck(const struct msd_replica *rep);

/* channel.c */
/** worker.open, or worker.resume: the first request. */
void msd_replica_send_open(struct msd_replica *rep);
/** Tell it of an in segment; @fd is borrowed. */
void msd_replica_send_segment(void *rep, uint16_t index, int fd, uint64_t bytes);
/** Send @r, which is in no list, and take it. False: out of memory, @r is as it was. */
MSD_MUST_CHECK bool msd_replica_post(struct msd_replica *rep, struct msd_req *r);
/** Nobody waits for this sent request any more; the worker is told once. */
void msd_replica_cancel(struct msd_req *r);

/** A frame from the process. */
void msd_replica_on_frame(struct msd_replica *rep, struct msd_in *in);
/** Its process is gone, or none could be made: @how, when the process does not tell. */
void msd_replica_on_lost(struct msd_replica *rep, const char *how);

#endif
