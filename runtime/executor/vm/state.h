#ifndef MSD_RUNTIME_EXECUTOR_VM_STATE_H
#define MSD_RUNTIME_EXECUTOR_VM_STATE_H
/*
 * A virtual machine as in TVM, Relax's or Relay's: inputs are set for a function
 * before it is invoked, and its result is kept. Code and constants belong to the
 * module; an instance has only the values.
 */
#include "runtime/module/instance.h"

enum msd_vm_api { /* API with the names and arguments of its functions */
		  MSD_VM_API_RELAX,
		  MSD_VM_API_RELAY,
};

/**
 * Hint: the replacement for @name, a function of TVM's VM executables. Static, or
 * NULL.
 */
const char *msd_vm_tell(const struct msd_node *node, const char *name);
/** An instance over the functions of @node, which must outlive it. Errors: MSD_NOMEM.
 */
/* @stats describes the code in a few lines; NULL: no description. Taken over on
 * success. */
MSD_MUST_CHECK msd_err msd_vm_state_create(struct msd_node *node, enum msd_vm_api api,
					   char *stats, struct msd_instance **ret,
					   struct msd_diag *d);

#endif
