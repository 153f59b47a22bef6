#ifndef MSD_SUPERVISOR_OBJECT_H
#define MSD_SUPERVISOR_OBJECT_H
/*
 * Objects that a session holds in a module's worker: resident tensors, instances, and
 * objects of libraries.
 * The client's handle maps to the worker's handle; it is stale once that worker has
 * ended.
 *
 * tensor.alloc, tensor.copy to a device and module.instance create an object
 * (object_create.h); the result of a call may hold a library's. A call that uses it
 * must run on that worker. tensor.free, instance.free, object.free and the end of the
 * session free it in the worker.
 */
#include "daemon/supervisor/edge/objects/object_release.h"
#include "daemon/supervisor/edge/session/session.h"

struct msd_object;

/* An object that a worker created. */
struct msd_object_made {
	enum msd_kind kind; /* MSD_K_TENSOR, MSD_K_INSTANCE or MSD_K_OBJECT */
	struct msd_handle theirs;
	uint64_t bytes; /* size of a tensor */
};

/**
 * Give the object @made to the session of @r under the handle *@ret. If the session
 * has ended or has too many objects, the worker must free it. Errors: MSD_NOMEM,
 * MSD_NO_SPACE.
 */
MSD_MUST_CHECK msd_err msd_object_add(struct msd_req *r,
				      const struct msd_object_made *made,
				      struct msd_handle *ret, struct msd_diag *d);
/**
 * Use the session's object @h of @kind (as in msd_object_made) in @r, which
 * then needs the object's worker. *@ret is the worker's handle. Errors:
 * MSD_STALE_HANDLE; MSD_BAD_ARGUMENT with both module names if it lives with another
 * module.
 */
MSD_MUST_CHECK msd_err msd_object_use(struct msd_req *r, enum msd_kind kind,
				      struct msd_handle h, struct msd_handle *ret,
				      struct msd_diag *d);
/**
 * tensor.free, instance.free and object.free: free the objects in order, up to the
 * first that is not valid. Errors: MSD_BAD_REQUEST, MSD_STALE_HANDLE.
 */
MSD_MUST_CHECK msd_err msd_object_free(struct msd_session *s, struct msd_in *in,
				       enum msd_kind kind, struct msd_diag *d);
/**
 * Return the module name of the first resident tensor or object of a library in the
 * @n @items. Borrowed; empty if no item is one. Errors: MSD_STALE_HANDLE,
 * MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_object_module(struct msd_session *s, struct msd_cur items,
					 uint32_t n, struct msd_span *ret,
					 struct msd_diag *d);
/** The same for the library's object @h. Errors: MSD_STALE_HANDLE. */
MSD_MUST_CHECK msd_err msd_object_home(struct msd_session *s, struct msd_handle h,
				       struct msd_span *ret, struct msd_diag *d);
/** Return the size of the resident tensor @v. False: the session has no such tensor. */
bool msd_object_bytes(struct msd_session *s, const struct msd_wire_value *v,
		      uint64_t *ret);
/** msd_client_ops.take_objects of sessions. */
MSD_MUST_CHECK msd_err msd_object_take(struct msd_client *c, struct msd_req *r,
				       struct msd_reply_object *objects, uint32_t n,
				       struct msd_diag *d);
/** Free @o, whose handle was removed. Its worker gets the handle with the batch @f. */
void msd_object_drop(struct msd_object *o, struct msd_object_release *f);

#endif
