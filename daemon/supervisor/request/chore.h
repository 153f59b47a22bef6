#ifndef MSD_SUPERVISOR_CHORE_H
#define MSD_SUPERVISOR_CHORE_H
/*
 * What takes long and needs nothing of the loop's: done on threads (work.h), for each
 * connection one at a time, and two in all of a kind, so that others find a thread,
 * too. Peers take turns, however many connections each has; a peer's are in the order
 * of their coming.
 */
#include <uv.h>

#include "daemon/supervisor/request/peer_id.h"
#include "daemon/wire/list.h"
#include "daemon/wire/work.h"

struct msd_chores {
	uv_loop_t *loop;
	struct msd_list waiting; /* msd_chore.link, by their turns */
	uint64_t turn;           /* of the last that was begun */
	unsigned n_running;
};

/* Embedded in what it works on, which lives until it is done. */
struct msd_chore {
	struct msd_list link;
	struct msd_chores *all;
	struct msd_work work;
	/** On a thread. */
	void (*run)(struct msd_chore *c);
	/** On the loop, when that is over. */
	void (*on_done)(struct msd_chore *c);
	bool is_busy; /* until then */
	struct msd_peer_id who;
	uint64_t turn;
};

void msd_chores_init(struct msd_chores *all, uv_loop_t *loop);
/** Begin @c, whose run and on_done are set, for @who. */
void msd_chore_begin(struct msd_chores *all, struct msd_chore *c,
		     struct msd_peer_id who);
/** It has a thread, and its on_done is still to come. */
bool msd_chore_is_running(const struct msd_chore *c);
/** It waits no more, if it did, and is not done; it does not run. */
void msd_chore_leave(struct msd_chore *c);

#endif
