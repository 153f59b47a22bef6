#ifndef MSD_WORKER_HELD_OBJECTS_H
#define MSD_WORKER_HELD_OBJECTS_H
/*
 * Objects of a library that a peer holds, by handle: results that are no plain values.
 * An object that is returned twice has two handles. A library's code ends an object, so
 * each free may run foreign code.
 */
#include "daemon/worker/calls/call.h"

/** NULL if @h is stale. */
struct msd_obj *msd_held_objects_peek(const struct msd_handles *objects,
				      struct msd_handle h);
/**
 * Give the peer of @call a handle of @obj and append it to @out. msd_call_finish() of a
 * failed call takes it back. Errors: MSD_BUSY, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_held_objects_give(struct msd_call *call, struct msd_obj *obj,
					     struct msd_buf *out, struct msd_diag *d);
/** Take back the objects that @call gave. */
void msd_held_objects_take_back(struct msd_call *call);
/**
 * Find the object @h for an argument of @call; borrowed. Errors: MSD_STALE_HANDLE;
 * MSD_BAD_ARGUMENT, if compiled code would take it for a tensor.
 */
MSD_MUST_CHECK msd_err msd_held_objects_use(const struct msd_call *call,
					    struct msd_handle h, struct msd_obj **ret,
					    struct msd_diag *d);
/**
 * Get the function object @h as a function to call in the running request, which keeps
 * its handle. Errors: MSD_STALE_HANDLE, MSD_BAD_ARGUMENT, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_held_objects_function(struct msd_peer *peer,
						 struct msd_handle h,
						 struct msd_function **ret,
						 struct msd_diag *d);
/** Drop all, and free the table. */
void msd_held_objects_finish(struct msd_handles *objects);

#endif
