#ifndef MSD_WORKER_HANDLERS_H
#define MSD_WORKER_HANDLERS_H
/* The table of request handlers of a worker: one row per method that it receives,
 * NULL for the rest. */
#include "daemon/worker/worker.h"

/* Handle a request. Write the whole response to @out, or fail with @d filled; the
 * caller then rewrites @out. */
typedef msd_err msd_handler(struct msd_worker *w, struct msd_request *r,
			    struct msd_buf *out, struct msd_diag *d);
msd_handler msd_handle_open;
msd_handler msd_handle_resume;
msd_handler msd_handle_call;
msd_handler msd_handle_instance;
msd_handler msd_handle_instance_free;
msd_handler msd_handle_object_free;
msd_handler msd_handle_object_describe;
msd_handler msd_handle_plan;
msd_handler msd_handle_tensor_alloc;
msd_handler msd_handle_tensor_copy;
msd_handler msd_handle_tensor_fill;
msd_handler msd_handle_tensor_free;

extern msd_handler *const msd_handlers[MSD_M_COUNT];

#endif
