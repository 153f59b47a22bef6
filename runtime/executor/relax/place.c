/* Device placement of a VM: its constants move to device 0 once, as in TVM. */
#include "runtime/device/memory.h"
#include "runtime/executor/relax/vm.h"

msd_err msd_relax_vm_place(struct msd_relax_vm *vm, struct msd_device device,
			   struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t i = 0; i < vm->n_funcs; i++)
		vm->funcs[i].rules.device = device;
	if (device.type == MSD_DEV_CPU)
		return MSD_OK;
	err = msd_dev_open(device, &vm->memory.dev, d);
	for (size_t i = 0; err == MSD_OK && i < vm->n_values; i++) {
		if (vm->values[i].type == MSD_T_TENSOR)
			err = msd_dev_tensor_move(vm->memory.dev, &vm->values[i], d);
	}
	return err;
}
