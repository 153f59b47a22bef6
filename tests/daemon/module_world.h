#ifndef MSD_TESTS_MODULE_WORLD_H
#define MSD_TESTS_MODULE_WORLD_H
/*
 * A whole module of pure steps in a world of variables: its life (life_world.h), the
 * choice of its queue and the lives of its requests are the daemon's; memory is counted
 * here. What a step asks for is done at once, and asserted to be possible.
 */
#include "daemon/supervisor/module/queue/worker_selection.h"
#include "daemon/supervisor/request/request_step.h"
#include "tests/daemon/life_world.h"

#define MAX_REQUESTS 24u
#define NOBODY UINT32_MAX

struct request {
	bool is_used;
	enum msd_req_state state;
	unsigned answers;
	bool is_orphan;
	uint32_t worker; /* whom it was sent to */
	uint64_t bytes;  /* claimed of the budget */
	uint64_t order;  /* of sending */
};

struct world {
	struct life_world base; /* first */
	uint64_t n_ordered, budget;
	struct msd_worker_selection_worker choices[MAX_WORKERS];
	struct request requests[MAX_REQUESTS];
	unsigned n_made, n_over;
};

void world_init(struct world *w, unsigned seed);
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
