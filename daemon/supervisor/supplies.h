#ifndef MSD_SUPERVISOR_SUPPLIES_H
#define MSD_SUPERVISOR_SUPPLIES_H
/*
 * Modules that a section of the configuration gives a source: what the store has of
 * them is served at once, without a network; the source is asked for another edition
 * then, and, with `poll`, again and again (supply.h).
 */
#include "daemon/wire/list.h"
#include "proto/bytes.h"

struct msd_fetch_terms;
struct msd_fetcher;
struct msd_house;
struct msd_keeper;
struct msd_load;
struct msd_preload;

struct msd_supplies {
	/* The server's. */
	struct msd_house *house;
	struct msd_keeper *keeper;
	struct msd_fetcher *fetcher;
	/* Its own. */
	struct msd_list all; /* msd_supply.link, one a module */
};

/** What is not private is filled in already. */
void msd_supplies_init(struct msd_supplies *all);
/** No source is asked any more; before the keeper is closed. */
void msd_supplies_finish(struct msd_supplies *all);
/** Ask the source of the section @p, from now on, in place of an earlier section of its
 * name. Of a name that nobody has the module is LOADING until its source gives it; what
 * serves is replaced when there is something new, or when @has_changed. A daemon
 * without a store has it FAILED. */
void msd_supplies_start(struct msd_supplies *all, const struct msd_preload *p,
			bool has_changed);
/** The section is gone; what was brought is forgotten by the store. */
void msd_supplies_stop(struct msd_supplies *all, const char *name);
/** Its section has changed, and counts for the same bytes, too: its source is asked. */
bool msd_supplies_has_changed(const struct msd_supplies *all, const char *name);
/** How the section of @name says that it is loaded; NULL: there is none. */
const struct msd_load *msd_supplies_options(const struct msd_supplies *all,
					    const char *name);
/** On which terms the section of @name has it fetched, until the next reload; NULL:
 * there is none. */
const struct msd_fetch_terms *msd_supplies_terms(const struct msd_supplies *all,
						 const char *name);
/** Append, as msgpack, what is known of the source of @name: a map, or nil. */
void msd_supplies_put(const struct msd_supplies *all, const char *name,
		      struct msd_buf *ret);

#endif
