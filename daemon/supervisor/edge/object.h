#ifndef MSD_SUPERVISOR_OBJECT_H
#define MSD_SUPERVISOR_OBJECT_H
/*
 * What a session holds in a module's worker: resident tensors and instances. The
 * client's handle stands for the worker's; it is stale once that worker is gone.
 *
 * tensor.alloc, tensor.copy to a device and module.instance make one (make.h).
 * Calls use it, and then need that worker. tensor.free, instance.free and the session's
 * end have the worker free it.
 */
#include "daemon/supervisor/edge/freeing.h"
#include "daemon/supervisor/edge/session.h"

struct msd_object;

/* What a worker has made. */
struct msd_object_made {
	enum msd_kind kind; /* MSD_K_TENSOR or MSD_K_INSTANCE */
	struct msd_handle theirs;
	uint64_t bytes; /* of a tensor */
};

/** The session of @r owns what was @made from here on, under the handle *@ret. When
 * there is no session any more, or it has as many as it may, the worker is told to free
 * it. Errors: MSD_NOMEM, MSD_NO_SPACE. */
MSD_MUST_CHECK msd_err msd_object_add(struct msd_req *r,
				      const struct msd_object_made *made,
				      struct msd_handle *ret, struct msd_diag *d);
/**
 * @r uses the object @h of its session, of @kind MSD_K_TENSOR or MSD_K_INSTANCE, and
 * needs its worker then. *@ret is the worker's handle. Errors: MSD_STALE_HANDLE;
 * MSD_BAD_ARGUMENT, naming both modules, when it lives with another one.
 */
MSD_MUST_CHECK msd_err msd_object_use(struct msd_req *r, enum msd_kind kind,
				      struct msd_handle h, struct msd_handle *ret,
				      struct msd_diag *d);
/** tensor.free and instance.free: in order, up to the first that is not a live one.
 * Errors: MSD_BAD_REQUEST, MSD_STALE_HANDLE. */
MSD_MUST_CHECK msd_err msd_object_free(struct msd_session *s, struct msd_in *in,
				       enum msd_kind kind, struct msd_diag *d);
/** The name of the module that the first resident tensor of @n @items lives with;
 * borrowed, empty: there is none. Errors: MSD_STALE_HANDLE, MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_object_module(struct msd_session *s, struct msd_cur items,
					 uint32_t n, struct msd_span *ret,
					 struct msd_diag *d);
/** How large the resident tensor @v is; false: it is none of the session's. */
bool msd_object_bytes(struct msd_session *s, const struct msd_wire_value *v,
		      uint64_t *ret);
/** Free @o, whose handle is forgotten; its worker is told with the others of @f. */
void msd_object_drop(struct msd_object *o, struct msd_freeing *f);

#endif
