#ifndef MSD_SUPERVISOR_RESIDENT_H
#define MSD_SUPERVISOR_RESIDENT_H
/*
 * Tensors that stay in a module's worker between calls: tensor.alloc, tensor.copy,
 * tensor.free. The client's handle stands for the worker's; it is stale once that
 * worker is gone.
 */
#include "daemon/supervisor/edge/session.h"

struct msd_process;

struct msd_resident {
	struct msd_handle mine;      /* the session's */
	struct msd_handle theirs;    /* the worker's */
	struct msd_process *process; /* one reference */
	char module[MSD_MAX_NAME_BYTES + 1];
};

/** Fill @r's module and params from a tensor.alloc or tensor.copy request. */
MSD_MUST_CHECK msd_err msd_resident_write(struct msd_req *r, struct msd_in *in,
					  struct msd_diag *d);
/** Write the worker's handle for @h of @r's session to @out, 8 bytes; @r needs that
 * worker then. MSD_STALE_HANDLE; MSD_BAD_ARGUMENT, naming both modules, when it lives
 * in another one. */
MSD_MUST_CHECK msd_err msd_resident_translate(struct msd_req *r, struct msd_handle h,
					      uint8_t *out, struct msd_diag *d);
/** tensor.free: in order, up to the first that is not a live one. */
MSD_MUST_CHECK msd_err msd_resident_free(struct msd_session *s, struct msd_in *in,
					 struct msd_diag *d);
/** Forget the handle and have the worker free the tensor. */
void msd_resident_drop(struct msd_session *s, struct msd_resident *t);

#endif
