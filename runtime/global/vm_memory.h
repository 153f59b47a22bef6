#ifndef MSD_RUNTIME_GLOBAL_VM_MEMORY_H
#define MSD_RUNTIME_GLOBAL_VM_MEMORY_H
/*
 * Where a virtual machine's storages come from, and what it keeps of its device's work:
 * what packed functions get that take "the VM" as an argument. Nothing else of it is
 * theirs.
 */
struct msd_captures;
struct msd_dev;
struct msd_storage_pool;

struct msd_vm_memory {
	struct msd_storage_pool *pool; /* of the host */
	struct msd_dev *dev;           /* the VM's device 0; NULL: the host */
	struct msd_captures *captures; /* NULL: none so far, or @dev has no graphs */
};

#endif
