/* Where a VM runs: its constants go to device 0 once, as TVM's do. */
#include "runtime/device/memory.h"
#include "runtime/module/relax_vm.h"

static msd_err constant_move(struct msd_dev *dev, struct msd_any *v, struct msd_diag *d)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);
	struct msd_tensor *there;
	msd_err err =
		msd_dev_tensor(dev, t->dtype, t->shape, (size_t)t->ndim, &there, d);

	if (err != MSD_OK)
		return err;
	err = msd_dev_copy(dev, there->dl.data, NULL, t->data, msd_dltensor_bytes(t),
			   d);
	if (err == MSD_OK) /* the host's copy goes now */
		err = msd_dev_sync(dev, d);
	if (err != MSD_OK) {
		msd_obj_unref(&there->obj);
		return err;
	}
	msd_any_drop(v);
	*v = msd_of_obj(&there->obj);
	return MSD_OK;
}

msd_err msd_relax_vm_place(struct msd_relax_vm *vm, struct msd_device device,
			   struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t i = 0; i < vm->n_funcs; i++)
		vm->funcs[i].rules.device = device;
	if (device.type == MSD_DEV_CPU)
		return MSD_OK;
	err = msd_dev_open(device, &vm->dev, d);
	for (size_t i = 0; err == MSD_OK && i < vm->n_values; i++) {
		if (vm->values[i].type == MSD_T_TENSOR)
			err = constant_move(vm->dev, &vm->values[i], d);
	}
	return err;
}
