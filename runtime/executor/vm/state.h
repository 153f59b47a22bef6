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

/** An instance over the functions of @node, which must outlive it. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_vm_state_create(struct msd_node *node, enum msd_vm_api api,
					   struct msd_instance **ret,
					   struct msd_diag *d);

#endif
