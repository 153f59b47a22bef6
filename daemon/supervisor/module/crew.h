#ifndef MSD_SUPERVISOR_CREW_H
#define MSD_SUPERVISOR_CREW_H
/*
 * A module's workers and what they have in common: what they are started with, the
 * segments of their arguments, the lanes of the queue they are fed from, what has been
 * learned of them. Replicas, channel, lanes and queue know this much of a module; what
 * it makes of what happens to them is told to it through msd_crew_ops.
 */
#include "daemon/supervisor/module/batching.h"
#include "daemon/supervisor/module/blame.h"
#include "daemon/supervisor/module/facts.h"
#include "daemon/supervisor/module/life_table.h"
#include "daemon/supervisor/module/pace.h"
#include "daemon/supervisor/module/peer_pace.h"
#include "daemon/supervisor/module/run_limit.h"
#include "daemon/supervisor/module/run_step.h"
#include "daemon/supervisor/module/spread.h"
#include "daemon/supervisor/module/stage.h"
#include "daemon/supervisor/request/request.h"
#include "daemon/supervisor/source/source.h"
#include "proto/era_word.h"
#include "proto/fill_word.h"
#include "proto/model_words.h"
#include "proto/sandbox_word.h"
#include "proto/spin.h"

struct msd_crew;
struct msd_tally;

struct msd_crew_ops {
	/** A request that is about the crew is made: its owner's from here on. */
	void (*adopt)(struct msd_crew *crew, struct msd_req *r);
	/** A worker has opened the artifact; its facts are kept. */
	void (*on_opened)(struct msd_replica *rep);
	/** Why a worker did not open the artifact. */
	void (*on_blamed)(struct msd_crew *crew, msd_err err, const char *text);
	/** A worker has answered, and has room. */
	void (*on_answered)(struct msd_crew *crew);
	/** A worker is gone, and what it was sent is answered; of one that died by
	 * itself @blame says whose call it ran. May free the module. */
	void (*on_lost)(struct msd_replica *rep, enum msd_loss loss,
			const struct msd_blame *blame, const char *how);
	/** Nothing is left of what was to be refused. May free the module. */
	void (*on_refused)(struct msd_crew *crew);
	/** What its worker has run for @ran_ms may not go on, for @why. */
	void (*on_overran)(struct msd_replica *rep, const struct msd_blame *blame,
			   enum msd_run_end why, uint64_t ran_ms);
	/** It wrote to standard output or error. */
	void (*on_output)(struct msd_crew *crew, const char *bytes, size_t n);
};

/* Workers were ended for what they ran, and none has answered since. */
struct msd_silence {
	bool is_on;
	uint64_t n_answered; /* when it began: it goes on while that is so */
	uint64_t since_ms;
};

struct msd_crew {
	const struct msd_crew_ops *ops;
	struct msd_house *house;
	char *name;
	char *file;               /* label for people */
	struct msd_source source; /* without a file until that has come */
	bool is_source_kept;      /* warm_artifact.h's */
	struct msd_spread spread; /* where it is to run */
	enum msd_era_word era;
	enum msd_fill_word fill;
	struct msd_model_words words;
	enum msd_sandbox_word sandbox;
	bool tvm_inputs; /* an instance ignores inputs that the model lacks */
	struct msd_batching batching;
	struct msd_run_limit max_run;
	struct msd_silence silence; /* busy.c's */
	struct msd_segpool in;
	struct msd_replica *replicas;      /* n_replicas, at least 1 */
	struct msd_choice_worker *choices; /* n_replicas; queue.c's */
	uint32_t n_replicas;
	bool is_serving;            /* what is queued may be sent */
	struct msd_list lanes;      /* msd_lane.link: without a home, taking turns */
	struct msd_list background; /* likewise; sent when no other lane has anything */
	uint32_t n_foreground;      /* sent of others while the background waited */
	struct msd_list refused;    /* msd_lane.link: of which something is refused */
	struct msd_deadline refusal_timer; /* refusal.c's */
	struct msd_deadline ready_timer;   /* ready_wait.c's */
	bool is_waiting;                   /* since that was set: nobody serves */
	struct msd_list all_lanes;         /* msd_lane.all_link */
	uint32_t n_queued;                 /* requests in lanes */
	uint64_t queued_us;                /* what they are expected to take */
	struct msd_pace pace;              /* of all peers together */
	struct msd_peer_paces paces;       /* of each */
	struct msd_facts facts;            /* what the worker that opened last said */
	uint64_t n_calls, n_errors;
	uint64_t n_failed; /* of the errors, those of its code: CALL_FAILED */
	uint64_t n_lost;   /* of the errors, those that nobody answered */
	struct msd_times stages[MSD_STAGE_COUNT]; /* of its calls */
	struct msd_spin_count spun; /* by its workers, for calls past the daemon */
	struct msd_tally *tally;    /* of its name; a reference */
};

/** Microseconds to expect of @r, if it is a call of @c, or of nobody: by those of its
 * peer, or, while that has made none, by all. 0: it is none, or was never seen. */
static inline uint32_t msd_crew_expect_us(const struct msd_crew *crew,
					  const struct msd_client *c,
					  const struct msd_req *r)
{
	if (r->method != MSD_M_CALL)
		return 0;
	const uint32_t us =
		crew->paces.n > 0 && c != NULL
			? msd_peer_paces_expect(&crew->paces, c->peer, r->at.function)
			: 0;

	return us > 0 ? us : msd_pace_expect(&crew->pace, r->at.function);
}
/** One took @exec_ns. The first of all is often a hundred times slower than others. */
static inline void msd_crew_note_pace(struct msd_crew *crew, const struct msd_client *c,
				      uint8_t function, uint64_t exec_ns)
{
	if (c != NULL &&
	    (crew->paces.n > 0 ||
	     (crew->pace.n[function] > 1 && exec_ns / 1000 >= MSD_PEER_PACE_LEAST_US)))
		msd_peer_paces_note(&crew->paces, c->peer, function, exec_ns);
	msd_pace_note(&crew->pace, function, exec_ns);
}
/** @n calls that a worker had when it died are over. */
static inline void msd_crew_lose(struct msd_crew *crew, uint64_t n)
{
	crew->n_calls += n;
	crew->n_errors += n;
	crew->n_lost += n;
}
/** Calls that say what the code is worth: a death is judged by itself. */
static inline uint64_t msd_crew_answered(const struct msd_crew *crew)
{
	return crew->n_calls - crew->n_lost;
}

#endif
