#ifndef MSD_SUPERVISOR_SUPPLY_H
#define MSD_SUPERVISOR_SUPPLY_H
/*
 * One module's source, which is asked whether it has another edition:
 *
 *   LOOKING --what the store has is known--> FETCHING
 *   FETCHING --nothing new, or brought--> RESTING --poll--> LOOKING
 *      '--failed--> RESTING --longer each time--> LOOKING
 *   any --the module was unloaded by hand--> OVER
 *
 * All calls on the loop's thread.
 */
#include "daemon/supervisor/fetch/fetcher.h"
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/module/catalog.h"
#include "daemon/supervisor/stock.h"
#include "daemon/supervisor/supply_rest.h"
#include "proto/limits.h"

enum msd_supply_state {
	MSD_SUPPLY_RESTING,
	MSD_SUPPLY_LOOKING, /* into the store: its job is the keeper's */
	MSD_SUPPLY_FETCHING,
	MSD_SUPPLY_OVER /* nobody wants the module */
};

struct msd_supply {
	struct msd_list link; /* the owner's */
	/* The owner's. */
	struct msd_house *house;
	struct msd_keeper *keeper;
	struct msd_fetcher *fetcher;
	char name[MSD_MAX_NAME_BYTES + 1];
	char *uri;            /* owned by it */
	struct msd_load load; /* how, without its source */
	struct msd_fetch_terms terms;
	struct msd_supply_pace pace;
	bool has_changed; /* its options: they count for the same bytes, too */
	/* Its own. */
	enum msd_supply_state state;
	uint32_t n_failures; /* in a row */
	char *why;           /* of the last question, NULL: it was answered */
	struct msd_deadline timer;
	struct msd_keeper_job job;
	struct msd_fetch fetch;
	struct msd_stock stock;
	struct msd_buf manifest, signature; /* while it is LOOKING */
	bool is_dropped; /* freed when the keeper is done with its job */
};

/** The module that it supplies; NULL: nobody has the name. */
struct msd_module *msd_supply_module(const struct msd_supply *s);
/** Ask for the first time: @at_once, or when others that started now ask, too. @s is on
 * the heap. */
void msd_supply_begin(struct msd_supply *s, bool at_once);
/** End it in any state, and free it. It takes itself out of its list. */
void msd_supply_drop(struct msd_supply *s);

#endif
