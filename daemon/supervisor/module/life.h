#ifndef MSD_SUPERVISOR_MODULE_LIFE_H
#define MSD_SUPERVISOR_MODULE_LIFE_H
/* Private to module.c, replica.c and channel.c: what happens to a module, and what
 * life.c does then. The decisions are in life_step.h. */
#include "daemon/supervisor/module/module.h"

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
void msd_module_on_lost(struct msd_replica *rep, enum msd_loss loss, const char *how);
/** Send what the workers have room for. */
void msd_module_pump(struct msd_module *m);
/** Answer what waits for the module, as its state says. */
void msd_module_answer_waiters(struct msd_module *m);
/** Answer and free every request of a list; MSD_OK answers nil. */
void msd_module_answer_all(struct msd_list *requests, msd_err err, const char *text);
/** Answer everything queued in lanes with an error. */
void msd_module_refuse_queued(struct msd_module *m, msd_err err, const char *text);
/** The module is READY: queued requests wait for their own deadlines alone. */
void msd_module_ready_queued(struct msd_module *m);
/** The module is not READY any more: queued requests without a deadline get
 * limits.ready_wait. */
void msd_module_wait_queued(struct msd_module *m);
/** Forget the module; it has no process and no requests. */
void msd_module_free(struct msd_module *m);

#endif
