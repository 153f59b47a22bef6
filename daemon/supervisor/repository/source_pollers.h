#ifndef MSD_SUPERVISOR_SOURCE_POLLERS_H
#define MSD_SUPERVISOR_SOURCE_POLLERS_H
/*
 * Modules whose section of the configuration has a source. The store's edition serves
 * at once, without a network. Then the daemon asks the source for another edition,
 * periodically if `poll` is set (source_poller.h).
 */
#include "daemon/loop/list.h"
#include "proto/base/bytes.h"

struct msd_fetch_options;
struct msd_fetcher;
struct msd_module_registry;
struct msd_keeper;
struct msd_load;
struct msd_preload;

struct msd_source_pollers {
	/* Set by the server. */
	struct msd_module_registry *registry;
	struct msd_keeper *keeper;
	struct msd_fetcher *fetcher;
	/* Private. */
	struct msd_list all; /* msd_source_poller.link, one per module */
};

/** The fields that are not private must be set. */
void msd_source_pollers_init(struct msd_source_pollers *all);
/** Stop polling; call it before the keeper is closed. */
void msd_source_pollers_finish(struct msd_source_pollers *all);
/**
 * Poll the source of the section @p, in place of an earlier section of the same name.
 * If no module has the name, the module is LOADING until the source delivers. The
 * module that serves is replaced if the source has a new edition, or if @has_changed.
 * Without a store the module is FAILED.
 */
void msd_source_pollers_start(struct msd_source_pollers *all,
			      const struct msd_preload *p, bool has_changed);
/** The section was removed; the store forgets the module. */
void msd_source_pollers_stop(struct msd_source_pollers *all, const char *name);
/**
 * True if its section has changed and must also be applied to the same bytes: the
 * source is being asked.
 */
bool msd_source_pollers_has_changed(const struct msd_source_pollers *all,
				    const char *name);
/** The load options of the section @name; NULL if there is no section. */
const struct msd_load *msd_source_pollers_options(const struct msd_source_pollers *all,
						  const char *name);
/**
 * The fetch options of the section @name, valid until the next reload; NULL if there
 * is no section.
 */
const struct msd_fetch_options *
msd_source_pollers_terms(const struct msd_source_pollers *all, const char *name);
/** Append the state of the source of @name as msgpack: a map, or nil. */
void msd_source_pollers_put(const struct msd_source_pollers *all, const char *name,
			    struct msd_buf *ret);

#endif
