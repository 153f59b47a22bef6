#ifndef MSD_TESTS_MODULE_WORLD_H
#define MSD_TESTS_MODULE_WORLD_H
/*
 * A whole module of pure steps in a world of variables: its life, the choice of its
 * queue and the lives of its requests are the daemon's; processes, timers and memory
 * are counted here. What a step asks for is done at once, and asserted to be possible.
 */
#include "daemon/supervisor/module/choice.h"
#include "daemon/supervisor/module/life_step.h"
#include "daemon/supervisor/request/request_step.h"

#define MAX_WORKERS 3u
#define MAX_REQUESTS 24u
#define NOBODY UINT32_MAX

enum timer { TIMER_NONE, TIMER_OVERDUE, TIMER_REST, TIMER_NOT_STARTED };

struct request {
	bool is_used;
	enum msd_req_state state;
	unsigned answers;
	bool is_orphan;
	uint32_t worker; /* whom it was sent to */
	uint64_t bytes;  /* claimed of the budget */
	uint64_t order;  /* of sending */
};

struct worker {
	bool has_process, was_killed;
	enum timer timer;
};

struct world {
	unsigned seed;
	uint32_t random;
	uint64_t now_ms, n_ordered, budget;
	struct msd_life life;
	struct msd_life_worker lives[MAX_WORKERS];
	struct worker at[MAX_WORKERS];
	struct msd_choice_worker choices[MAX_WORKERS];
	struct request requests[MAX_REQUESTS];
	unsigned n_made, n_over;
	bool has_drain_timer, is_free;
};

/* xorshift: the same sequences on every machine. */
uint32_t draw(struct world *w, uint32_t below);
/* The life's event; then its actions. */
void take(struct world *w, enum msd_life_event_type type, uint32_t worker,
	  enum msd_loss loss);
/* The request's event; then its actions. */
void tell_req(struct world *w, struct request *r, enum msd_req_event e);
bool is_sent(const struct request *r);
/* The one that the worker runs: of what it was sent, the first; or NULL. */
struct request *first_sent(struct world *w, uint32_t worker);
bool is_serving(const struct world *w);
/* Send what the workers have room for. */
void pump(struct world *w);
/* End the workers of a module that ends, if nobody waits for them. */
void check_idle(struct world *w);

#endif
