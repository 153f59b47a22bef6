#ifndef MSD_SUPERVISOR_DIRECT_H
#define MSD_SUPERVISOR_DIRECT_H
/*
 * Channels from clients to a module's workers: a pair of sockets is made, one end goes
 * to the worker with what may be done over it, the other to the client. From then on
 * the supervisor has no part in the calls, but for ending them: it reads what the
 * worker tells of them (daemon/wire/ledger.h), ends the worker for one that overran,
 * and takes channels back.
 *
 *   (none) --open--> OPEN --end--> ENDING --the worker says so--> (none)
 *                     '------ the client, the worker's end ---------^
 *
 * The worker's end is open here, too: to take a channel back is to shut it down, and
 * the kernel lets nothing in any more. What was sent before is answered. So the client
 * knows of a worker's death when the supervisor does, not before.
 */
#include "daemon/supervisor/module/life_table.h"
#include "daemon/supervisor/module/process.h"
#include "daemon/supervisor/request/peer_id.h"
#include "daemon/supervisor/request/request.h"

struct msd_crew;
struct msd_limits;
struct msd_lost;

/* Of one channel; together with its share of `bytes`, what its worker keeps for it. */
#define MSD_DIRECT_REQUESTS 256u
#define MSD_DIRECT_BYTES (16u << 20)
#define MSD_DIRECT_LEAST_BYTES (64u << 10)
/* A channel has a turn for four of the daemon's (daemon/worker/turns.h): when more than
 * so many of its clients wait for a worker, all take turns through the daemon. */
#define MSD_DIRECT_CROWD 4u
/* Who has not called for so long may lose it to somebody else. */
#define MSD_DIRECT_UNUSED_MS 1000u

struct msd_direct {
	struct msd_list link;        /* msd_process.directs */
	struct msd_list client_link; /* msd_client.directs */
	struct msd_process *process;
	struct msd_client *client; /* who is told of its worker's death; NULL: gone */
	struct msd_peer_id who;
	int fd;          /* owned: the worker's end */
	uint16_t number; /* the worker's name for it */
	bool is_ending;
	uint64_t n_calls; /* of that number, as the worker tells it */
	uint64_t used_ms; /* when that was another one last, in the loop's time */
	uint64_t left_ms; /* without a client: since when */
};

/* What a client is told of its own. */
struct msd_direct_terms {
	uint64_t requests, bytes;
	uint64_t pid; /* of the worker */
};

/**
 * A channel for @c to a worker of @crew, for the functions whose names @functions has,
 * an array of msgpack's str; NULL: for all. *@ret_fd is the client's end. Errors:
 * MSD_NOT_READY, MSD_UNSUPPORTED (its calls are joined), MSD_BUSY (too many; somebody
 * watches single calls), MSD_IO, MSD_NO_SPACE, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_direct_open(struct msd_crew *crew, struct msd_client *c,
				       const struct msd_buf *functions,
				       struct msd_direct_terms *ret_terms, int *ret_fd,
				       struct msd_diag *d);
/** Take back those of a module, of a client. */
void msd_direct_end_crew(struct msd_crew *crew);
void msd_direct_end_client(struct msd_client *c);
/** Take back one of them. */
void msd_direct_end(struct msd_direct *x);
/** One of its workers has any. */
bool msd_direct_is_any(const struct msd_crew *crew);

/** worker.peer from the worker: one is gone. False: it breaks the contract. */
MSD_MUST_CHECK bool msd_direct_take_gone(struct msd_process *p,
					 const struct msd_in *in);
/** The process is lost, which its replica still has, and all of them with it. */
void msd_direct_lose(struct msd_process *p, const struct msd_lost *lost);

/* direct_find.c */
/** That of its channels which has @number, or NULL. */
struct msd_direct *msd_direct_find(const struct msd_process *p, uint64_t number);
/** A number that none of them has; 0: there is none. */
uint16_t msd_direct_free_number(const struct msd_process *p);

/* direct_choose.c */
/** The open worker of @crew with the fewest channels, which has room for one of @who.
 * NULL: there is none, which @d says; one that nobody uses is taken back then. */
struct msd_process *msd_direct_choose(const struct msd_crew *crew,
				      struct msd_peer_id who, struct msd_diag *d);
/** More clients than MSD_DIRECT_CROWD a worker wait for it through the daemon. */
bool msd_direct_is_crowded(const struct msd_crew *crew);
/** What the requests of one channel may hold: of less than MSD_DIRECT_LEAST_BYTES none
 * is given. */
uint64_t msd_direct_bytes(const struct msd_limits *limits);

/* direct_watch.c */
/** The worker has a ledger from here on; before its first channel. Errors:
 * MSD_NO_SPACE, MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_direct_share_ledger(struct msd_process *p,
					       struct msd_diag *d);
/** It is looked at while there is a channel. */
void msd_direct_watch(struct msd_process *p);
/**
 * What was sent to @p waits: it says that it runs a call of a client's channel, or has
 * just done so and runs nothing. A number that no channel has is not believed.
 */
bool msd_direct_is_ahead(const struct msd_process *p);
/** What runs there is a channel's call that takes long, or is over its deadline: what
 * is sent to it now gains nothing, and may be lost with it. It is looked at again soon.
 */
bool msd_direct_is_stuck(struct msd_process *p);
/** A worker says that it runs a call of the channel `of`. */
struct msd_direct_run {
	const struct msd_direct *of;
	uint64_t ran_ms;
	uint64_t late_ms; /* since its deadline, when it is late */
	bool is_late;
};
/** What @p runs of its channels. False: nothing. What the worker says of it is worth no
 * more than its own life. */
bool msd_direct_find_run(const struct msd_process *p, struct msd_direct_run *ret);
/** Over a channel of @p but @of (or NULL) something was sent that is not answered. */
bool msd_direct_has_others(const struct msd_process *p, const struct msd_direct *of);
/** Note who has used his channel since the last time. */
void msd_direct_note_use(struct msd_process *p);
/** Over one of the channels of @c something was sent that is not answered. */
bool msd_direct_is_awaited(const struct msd_client *c);
/** Since when what @p runs has run at the earliest, in the loop's time; 0: that is not
 * known. */
uint64_t msd_direct_since_ms(const struct msd_process *p);

/* direct_count.c */
/** Count what @p has told since the last time. */
void msd_direct_count(struct msd_process *p);
/** The same of one that is lost, with the calls that it had: those that waited end as
 * @code. */
void msd_direct_count_last(struct msd_process *p, msd_err code);

#endif
