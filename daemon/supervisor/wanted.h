#ifndef MSD_SUPERVISOR_WANTED_H
#define MSD_SUPERVISOR_WANTED_H
/*
 * The modules that the configuration wants. A module serves by the section whose number
 * it was loaded with (msd_module.section); a section that changes is begun as soon as
 * its module can take another: not while it is unloaded or replaced. Until then it
 * waits here, by its name alone: what is begun is what the configuration says then.
 *
 *   (none) --a section changes--> waiting --its module can take it--> begun, (none)
 *
 * How a load that was begun ends is told by the module. Nothing is begun again by
 * itself: what has failed would fail again. The next reload begins it again.
 */
#include "daemon/supervisor/request/deadline.h"
#include "daemon/wire/list.h"
#include "proto/diag.h"

struct msd_house;
struct msd_module;
struct msd_options;
struct msd_supplies;

struct msd_wanted {
	struct msd_house *house;
	struct msd_supplies *supplies;
	const struct msd_options *options; /* in force; borrowed */
	/* Private. */
	struct msd_list waiting;
	struct msd_deadline later;
};

/** The rest of @w is filled in already. */
void msd_wanted_init(struct msd_wanted *w);
void msd_wanted_finish(struct msd_wanted *w);
/** The section of @name has changed, or is gone, or is to be begun again: it waits.
 * Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_wanted_change(struct msd_wanted *w, const char *name,
					 struct msd_diag *d);
/** Begin all that can be. */
void msd_wanted_look(struct msd_wanted *w);
/** The same on a later turn: a module has come to another state, or is gone. */
void msd_wanted_look_later(struct msd_wanted *w);
bool msd_wanted_waits(const struct msd_wanted *w, const char *name);
/** The section of @name was begun, and its load has failed. */
bool msd_wanted_has_failed(const struct msd_wanted *w, const char *name);
/** How @m, which has its name, differs from the configuration: "waits", "loading",
 * "failed", or "differs", as it was loaded by hand since. NULL: it does not, or the
 * configuration says nothing of it. Static. */
const char *msd_wanted_word(const struct msd_wanted *w, const struct msd_module *m);

#endif
