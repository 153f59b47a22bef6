#ifndef MSD_TESTS_QUEUE_SCENE_H
#define MSD_TESTS_QUEUE_SCENE_H
/* Two clients of two peers, and a module with one worker, which is no process and has
 * room. Nothing can be sent to it: what is not withheld breaks it. */
#include "daemon/limits.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/workers/replica.h"

#define MOST_TOLD 16u

struct scene {
	uv_loop_t loop;
	struct msd_tasks tasks;
	struct msd_deadlines deadlines;
	struct msd_limits limits;
	struct msd_module_registry registry;
	struct msd_worker_group group;
	struct msd_replica replica;
	struct msd_client clients[2];
	unsigned n_ends; /* of refusals: msd_worker_group_ops.on_refused() */
};

/* Ids of requests that were answered, in that order. */
extern uint64_t told[MOST_TOLD];
extern msd_err codes[MOST_TOLD];
extern unsigned n_told;

void scene_init(struct scene *s);
void scene_finish(struct scene *s);
struct msd_client_queue *lane_of(struct scene *s, unsigned client);
/** Queue a call; one that @may_kill has a deadline of its own. */
struct msd_req *queue(struct scene *s, unsigned client, uint64_t id, bool may_kill);
/** Queue what is nobody's: what a worker is told behind the others. */
void queue_nobodys(struct scene *s, unsigned client);
/** Look at one request, as the loop does. */
void step(struct scene *s);
/** Look at all. */
void run(struct scene *s);
void expect_queued(const struct scene *s, uint32_t n);
/** The order in which what is left of the lane would be sent. */
void expect_left(struct scene *s, unsigned client, unsigned n, const uint64_t ids[]);
void expect_told(unsigned n, const uint64_t ids[], msd_err code);

#endif
