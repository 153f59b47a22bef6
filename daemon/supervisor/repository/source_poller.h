#ifndef MSD_SUPERVISOR_SOURCE_POLLER_H
#define MSD_SUPERVISOR_SOURCE_POLLER_H

/*
 * The poller of one module's source, which looks for another edition:
 *
 *   LOOKING --the store's editions are known--> FETCHING
 *   FETCHING --nothing new, or delivered--> RESTING --poll--> LOOKING
 *      '--failed--> RESTING --back-off--> LOOKING
 *   any --the module was unloaded by hand--> OVER
 *
 * Call all functions on the loop's thread.
 */

#include <stdint.h>

#include "daemon/supervisor/fetch/fetcher.h"
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/repository/stored_edition.h"
#include "proto/limits.h"

/* The delay before a module's source is polled again. It has random jitter, so that
 * machines that started together do not poll together. */

#define MSD_SOURCE_POLLER_NEVER UINT64_MAX
#define MSD_SOURCE_POLLER_MOST_MS 300000u /* maximum back-off */

struct msd_source_poller_backoff {
	uint64_t poll_ms;  /* 0: it is not polled again */
	uint64_t retry_ms; /* initial back-off after a failure */
};

/**
 * The delay after @n_failures in a row; 0: the last poll succeeded. @chance: a
 * uniformly random number.
 */
uint64_t msd_source_poller_delay(const struct msd_source_poller_backoff *pace,
				 uint32_t n_failures, uint32_t chance);
/** The delay before the first poll of a daemon that serves an edition of the store. */
uint64_t msd_source_poller_first_delay(const struct msd_source_poller_backoff *pace,
				       uint32_t chance);

enum msd_source_poller_state {
	MSD_SOURCE_POLLER_RESTING,
	MSD_SOURCE_POLLER_LOOKING, /* in the store: its job belongs to the keeper */
	MSD_SOURCE_POLLER_FETCHING,
	MSD_SOURCE_POLLER_OVER /* the module is not wanted any more */
};

struct msd_source_poller {
	struct msd_list link; /* for the owner */
	/* Set by the owner. */
	struct msd_module_registry *registry;
	struct msd_keeper *keeper;
	struct msd_fetcher *fetcher;
	char name[MSD_MAX_NAME_BYTES + 1];
	char *uri;            /* owned by it */
	struct msd_load load; /* load options, without its source */
	struct msd_fetch_options terms;
	struct msd_source_poller_backoff pace;
	bool has_changed; /* its options changed: apply them to the same bytes, too */
	/* Private. */
	enum msd_source_poller_state state;
	uint32_t n_failures; /* in a row */
	char *why;           /* error of the last poll; NULL: it succeeded */
	struct msd_deadline timer;
	struct msd_keeper_job job;
	struct msd_fetch fetch;
	struct msd_store_index stock;
	struct msd_buf manifest, signature; /* while it is LOOKING */
	bool is_dropped; /* freed when the keeper has finished its job */
};

/** The module that it supplies; NULL if no module has the name. */
struct msd_module *msd_source_poller_module(const struct msd_source_poller *s);
/** Start the first poll, @at_once or after a random delay. @s is on the heap. */
void msd_source_poller_begin(struct msd_source_poller *s, bool at_once);
/** Stop it in any state, and free it. It removes itself from its list. */
void msd_source_poller_drop(struct msd_source_poller *s);

#endif
