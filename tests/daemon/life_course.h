#ifndef MSD_TESTS_LIFE_COURSE_H
#define MSD_TESTS_LIFE_COURSE_H
/* A module's life over more than one event: life_step over a while, by a clock of its
 * own. */
#include "daemon/supervisor/module/life/life_step.h"

struct course {
	struct msd_life_worker workers[3];
	struct msd_life life;
	struct msd_life_actions as; /* of the last step */
	uint64_t now_ms;
};

/* A module that is not loaded yet. */
void course_init(struct course *c, uint32_t n_workers);
/* An event; @worker counts where it is about one. */
void tell(struct course *c, enum msd_life_event_type type, uint32_t worker);
/* The loss of a worker, while a client waits for its load. */
void lose(struct course *c, uint32_t worker, enum msd_loss loss);
/* The same, and the peer whose call it ran is to blame, if @is_peers. */
void lose_to(struct course *c, uint32_t worker, enum msd_loss loss, bool is_peers);
/* The action of the last step that is of @type; NULL: there is none. */
const struct msd_life_action *action(const struct course *c,
				     enum msd_life_action_type type);
/* It is started, and opens the artifact. */
void open_worker(struct course *c, uint32_t worker);
/* LOADING, the first of its workers opening. */
void begin(struct course *c, uint32_t n_workers);
/* READY, with all its workers open. */
void load(struct course *c, uint32_t n_workers);

#endif
