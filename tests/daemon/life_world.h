#ifndef MSD_TESTS_LIFE_WORLD_H
#define MSD_TESTS_LIFE_WORLD_H
/*
 * A module's life in a world of variables: its processes, its timers, the time. What a
 * step asks of them is done at once, and asserted to be possible; what it asks of
 * requests goes to who embeds this.
 */
#include "daemon/supervisor/module/life/life_step.h"

#define MAX_WORKERS 4u

enum timer { TIMER_NONE, TIMER_OVERDUE, TIMER_REST, TIMER_NOT_STARTED };

struct life_world;

struct life_world_ops {
	/* An action that is not about processes and timers. */
	void (*perform)(struct life_world *w, const struct msd_life_action *a);
	/* A process is gone, and the life was not told yet. */
	void (*on_gone)(struct life_world *w, uint32_t worker);
};

struct life_world {
	const struct life_world_ops *ops;
	unsigned seed;
	uint32_t random;
	uint64_t now_ms;
	struct msd_life life;
	struct msd_life_worker workers[MAX_WORKERS];
	struct {
		bool has_process, was_killed;
		enum timer timer;
	} at[MAX_WORKERS];
	unsigned n_waiters; /* for the end of the load */
	bool has_drain_timer, is_free;
};

/* A module of as many workers as @seed says, not loaded yet. */
void life_world_init(struct life_world *w, unsigned seed,
		     const struct life_world_ops *ops);
/* xorshift: the same sequences on every machine. */
uint32_t draw(struct life_world *w, uint32_t below);
/* The life's event; then its actions. */
void take(struct life_world *w, enum msd_life_event_type type, uint32_t worker,
	  enum msd_loss loss);
/* A worker's process ends, or it never began. */
void lose_worker(struct life_world *w, uint32_t worker, enum msd_loss loss);
/* A worker's timer ends, if one is on. */
void ring(struct life_world *w, uint32_t worker);
/* What has a process will be killed. */
void kill_worker(struct life_world *w, uint32_t worker);
/* A draining or given-up module needs the worker no more. */
void end_idle(struct life_world *w, uint32_t worker);
/* The end that every life must have: unloaded, out of time, its processes reaped. */
void expect_end_of_life(struct life_world *w);
/* Of seeds from 1 to @n, or of MSD_SEED alone. */
void each_seed(unsigned n, void (*expect)(unsigned seed));

#endif
