#ifndef MSD_SUPERVISOR_MODULE_LIFE_H
#define MSD_SUPERVISOR_MODULE_LIFE_H
/* Private to module*.c and replica*.c: the steps of a module's life. */
#include "daemon/supervisor/module/module.h"

/** Start the first worker; the others follow when it has opened the artifact. */
void msd_module_start(struct msd_module *m);
/** How long a worker that starts now may take to open the artifact. */
uint64_t msd_module_load_time(const struct msd_module *m);
/** Why a worker could not be started or did not open the artifact. */
void msd_module_keep_error(struct msd_module *m, msd_err err, const char *text);
/** A worker has opened the artifact; its facts are kept. */
void msd_module_on_opened(struct msd_replica *rep);
enum msd_loss {
	MSD_LOSS_NOT_STARTED, /* no process could be made */
	MSD_LOSS_DEATH,
	MSD_LOSS_DEVICE, /* it said that its device is lost to it */
};
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
