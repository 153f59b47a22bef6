#ifndef MSD_RUNTIME_EXECUTOR_VM_STATE_H
#define MSD_RUNTIME_EXECUTOR_VM_STATE_H
/*
 * A virtual machine as TVM has it, Relax's or relay's: inputs that are set for a
 * function before it is invoked, and what it returned. The code and its constants are
 * the module's; an instance has the values alone.
 */
#include "runtime/module/instance.h"

enum msd_vm_api { /* whose names and arguments its functions have */
		  MSD_VM_API_RELAX,
		  MSD_VM_API_RELAY,
};

/** What there is in place of @name, one of a VM executable's in TVM; static, or NULL.
 */
const char *msd_vm_tell(const struct msd_node *node, const char *name);
/** An instance over the functions of @node, which must outlive it. Errors: MSD_NOMEM.
 */
/* @stats tells of the code in a few lines; NULL: nothing does. It is taken over on
 * success. */
MSD_MUST_CHECK msd_err msd_vm_state_create(struct msd_node *node, enum msd_vm_api api,
					   char *stats, struct msd_instance **ret,
					   struct msd_diag *d);

#endif
