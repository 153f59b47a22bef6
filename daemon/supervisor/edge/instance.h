#ifndef MSD_SUPERVISOR_INSTANCE_H
#define MSD_SUPERVISOR_INSTANCE_H
/*
 * Instances of a module, each in one of its workers: module.instance, instance.free.
 * The client's handle stands for the worker's; it is stale once that worker is gone.
 */
#include "daemon/supervisor/edge/session.h"

struct msd_instance_ref;

/** Fill @r's module and params from a module.instance request. */
MSD_MUST_CHECK msd_err msd_instance_write(struct msd_req *r, struct msd_in *in,
					  struct msd_diag *d);
/** @r is a call of the instance @h of its session; it needs that worker then.
 * MSD_STALE_HANDLE; MSD_BAD_ARGUMENT, naming both modules, when it is another one's. */
MSD_MUST_CHECK msd_err msd_instance_use(struct msd_req *r, struct msd_handle h,
					struct msd_diag *d);
/** instance.free: in order, up to the first that is not a live one. */
MSD_MUST_CHECK msd_err msd_instance_free(struct msd_session *s, struct msd_in *in,
					 struct msd_diag *d);
/** Forget the handle and have the worker free the instance. */
void msd_instance_drop(struct msd_session *s, struct msd_instance_ref *i);

#endif
