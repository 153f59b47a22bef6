#ifndef MSD_SUPERVISOR_WANTED_H
#define MSD_SUPERVISOR_WANTED_H
/*
 * The modules that the configuration defines. A module stores the number of the
 * section that it was loaded with (msd_module.section). A changed section is loaded
 * as soon as its module is ready for another load, which it is not while it is
 * unloaded or replaced. The name waits here; the load uses the configuration of that
 * moment.
 *
 *   (none) --a section changes--> waiting --its module is ready--> started, (none)
 *
 * The module reports the result of its load. A failed load is not retried, because it
 * would fail again; the next reload retries it.
 */
#include "daemon/loop/list.h"
#include "daemon/loop/task.h"
#include "proto/base/diag.h"

struct msd_module_registry;
struct msd_module;
struct msd_options;
struct msd_source_pollers;

struct msd_wanted {
	struct msd_module_registry *registry;
	struct msd_source_pollers *source_pollers;
	const struct msd_options *options; /* in force; borrowed */
	/* Private. */
	struct msd_list waiting;
	struct msd_task later;
};

/** The other fields of @w must be set. */
void msd_wanted_init(struct msd_wanted *w);
void msd_wanted_finish(struct msd_wanted *w);
/**
 * The section of @name has changed, was removed, or must be loaded again: add it to
 * the waiting list. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_wanted_change(struct msd_wanted *w, const char *name,
					 struct msd_diag *d);
/** Start all loads that are possible now. */
void msd_wanted_look(struct msd_wanted *w);
/**
 * The same in a later loop iteration: the state of a module has changed, or it was
 * removed.
 */
void msd_wanted_look_later(struct msd_wanted *w);
bool msd_wanted_waits(const struct msd_wanted *w, const char *name);
/** True if the section of @name was loaded and its load has failed. */
bool msd_wanted_has_failed(const struct msd_wanted *w, const char *name);
/**
 * How @m, the module of its name, differs from the configuration: "waits", "loading",
 * "failed", or "differs" if a client has loaded it since. NULL: no difference, or the
 * configuration does not mention it. Static.
 */
const char *msd_wanted_word(const struct msd_wanted *w, const struct msd_module *m);

#endif
