#ifndef MSD_RUNTIME_GLOBAL_VM_MEMORY_H
#define MSD_RUNTIME_GLOBAL_VM_MEMORY_H
/* The source of a virtual machine's storages and its captured device work. Packed
 * functions with a "VM" argument get only this. */
struct msd_captures;
struct msd_dev;
struct msd_storage_pool;

struct msd_vm_memory {
	struct msd_storage_pool *pool; /* host memory */
	struct msd_dev *dev;           /* the VM's device 0; NULL: the host */
	struct msd_captures *captures; /* NULL: none so far, or @dev has no graphs */
};

#endif
