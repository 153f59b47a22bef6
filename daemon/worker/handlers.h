#ifndef MSD_WORKER_HANDLERS_H
#define MSD_WORKER_HANDLERS_H
/*
 * The table of what a worker answers: a row for each method that it is sent, NULL for
 * the others.
 */
#include "daemon/worker/worker.h"

/*
 * What a request does. Each writes the whole response to @out, or fails with @d filled
 * and leaves @out to be rewritten.
 */
typedef msd_err msd_handler(struct msd_worker *w, struct msd_request *r,
			    struct msd_buf *out, struct msd_diag *d);
msd_handler msd_handle_open;
msd_handler msd_handle_resume;
msd_handler msd_handle_call;
msd_handler msd_handle_instance;
msd_handler msd_handle_instance_free;
msd_handler msd_handle_tensor_alloc;
msd_handler msd_handle_tensor_copy;
msd_handler msd_handle_tensor_fill;
msd_handler msd_handle_tensor_free;

extern msd_handler *const msd_handlers[MSD_M_COUNT];

#endif
