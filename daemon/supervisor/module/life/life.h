#ifndef MSD_SUPERVISOR_MODULE_LIFE_H
#define MSD_SUPERVISOR_MODULE_LIFE_H
/* Events of a module, and its end. life_step.h makes the decisions, life_actions.c
 * performs them. */
#include "daemon/supervisor/module/life/module.h"

/**
 * Refuse new calls, finish the current ones (within limits.drain_ms), terminate the
 * workers, then forget the module.
 */
void msd_module_unload(struct msd_module *m);
/**
 * No client waits for the load any more: unload the LOADING module. If it is a
 * replacement, the old module stays.
 */
void msd_module_give_up(struct msd_module *m);
/**
 * End the workers of an idle module now, or as soon as its direct channels are taken
 * back; the next call starts them again. Errors: those of msd_sleep_want().
 */
MSD_MUST_CHECK msd_err msd_module_sleep(struct msd_module *m, struct msd_diag *d);
/** Kill all its processes now; @reason (static text) is for error texts. */
void msd_module_kill(struct msd_module *m, const char *reason);
/** If DRAINING or QUARANTINED, terminate the idle workers. */
void msd_module_check_idle(struct msd_module *m);
/** Start the first worker; the other workers start when it has opened the artifact. */
void msd_module_start(struct msd_module *m);
/** The module has no artifact to load: it is FAILED from the start, with this cause. */
void msd_module_fail(struct msd_module *m, msd_err err, const char *text);
/** Take an event about one worker, or about none: run the step, then its actions. */
void msd_module_start_work_for(struct msd_replica *rep, enum msd_life_event_type type);
void msd_module_take_plain(struct msd_module *m, enum msd_life_event_type type);
/** Set the reported cause; NULL: no cause. */
void msd_module_set_error(struct msd_module *m, msd_err err, const char *text);
/** Keep the cause why a worker could not be started or did not open the artifact. */
void msd_module_keep_error(struct msd_module *m, msd_err err, const char *text);
/** A worker has opened the artifact; its facts are stored. */
void msd_module_on_opened(struct msd_replica *rep);
/** A worker is gone, and its requests are answered. May free the module. */
void msd_module_on_lost(struct msd_replica *rep, enum msd_loss loss,
			const struct msd_blame *blame, const char *how);

#endif
