#ifndef MSD_SUPERVISOR_MODULE_LIFE_H
#define MSD_SUPERVISOR_MODULE_LIFE_H
/* What happens to a module, and its end. The decisions are in life_step.h, what is done
 * about them in acts.c. */
#include "daemon/supervisor/module/module.h"

/** Refuse new calls, finish those that are there (at most limits.drain_ms), end the
 * workers, then forget the module. */
void msd_module_unload(struct msd_module *m);
/** Nobody waits for its load any more: unload what is LOADING; of a replacement the
 * module that it was to replace stays. */
void msd_module_give_up(struct msd_module *m);
/** End all its processes now; @reason (static text) is for error texts. */
void msd_module_kill(struct msd_module *m, const char *reason);
/** DRAINING and QUARANTINED: end the workers that nobody waits for. */
void msd_module_check_idle(struct msd_module *m);
/** Start the first worker; the others follow when it has opened the artifact. */
void msd_module_start(struct msd_module *m);
/** There is no artifact to load: FAILED from the start, with this cause. */
void msd_module_fail(struct msd_module *m, msd_err err, const char *text);
/** An event about one worker, and one about none: the step, then its actions. */
void msd_module_take_for(struct msd_replica *rep, enum msd_life_event_type type);
void msd_module_take_plain(struct msd_module *m, enum msd_life_event_type type);
/** What is told as the cause; NULL: there is none. */
void msd_module_set_error(struct msd_module *m, msd_err err, const char *text);
/** Why a worker could not be started or did not open the artifact. */
void msd_module_keep_error(struct msd_module *m, msd_err err, const char *text);
/** A worker has opened the artifact; its facts are kept. */
void msd_module_on_opened(struct msd_replica *rep);
/** A worker is gone, and what it was sent is answered. May free the module. */
void msd_module_on_lost(struct msd_replica *rep, enum msd_loss loss,
			const struct msd_blame *blame, const char *how);

#endif
