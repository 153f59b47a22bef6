#ifndef MSD_SUPERVISOR_OBJECT_H
#define MSD_SUPERVISOR_OBJECT_H
/*
 * What a session holds in a module's worker: resident tensors and instances. The
 * client's handle stands for the worker's; it is stale once that worker is gone.
 *
 * tensor.alloc, tensor.copy to a device and module.instance make one: the request is
 * prepared by msd_object_write(), the worker's answer gives the session its handle.
 * Calls use it, and then need that worker. tensor.free, instance.free and the session's
 * end have the worker free it.
 */
#include "daemon/supervisor/edge/freeing.h"
#include "daemon/supervisor/edge/session.h"

struct msd_object;

/** Fill @r's module and params from a tensor.alloc, tensor.copy, tensor.fill or
 * module.instance request. Errors: MSD_BAD_REQUEST, MSD_NOT_FOUND, MSD_STALE_HANDLE. */
MSD_MUST_CHECK msd_err msd_object_write(struct msd_req *r, struct msd_in *in,
					struct msd_diag *d);
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
 * borrowed, empty: there is none. */
struct msd_span msd_object_module(struct msd_session *s, struct msd_cur items,
				  uint32_t n);
/** Free @o, whose handle is forgotten; its worker is told with the others of @f. */
void msd_object_drop(struct msd_object *o, struct msd_freeing *f);

#endif
