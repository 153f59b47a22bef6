#ifndef MSD_SUPERVISOR_MODULE_LIFE_H
#define MSD_SUPERVISOR_MODULE_LIFE_H
/* Private to module*.c: the steps of a module's life. */
#include "daemon/supervisor/module.h"

/** Start a worker and ask it to open the artifact. Failure to start is a failed load or
 * one more death, told like any other. */
void msd_module_start(struct msd_module *m);
/** Tell the worker of an in segment; @fd is borrowed. */
void msd_module_send_segment(struct msd_module *m, uint16_t index, int fd,
			     uint64_t bytes);
/** worker.open was answered. */
void msd_module_on_opened(struct msd_req *r, struct msd_in *in);
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
