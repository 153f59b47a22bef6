#include "runtime/device/device.h"

#include "artifact/provides/packed.h"
#include "runtime/packed/global.h"
#include "runtime/value/error.h"

static int enter(struct msd_dev *dev)
{
	struct msd_diag d = {0};
	msd_err err = dev->ops->enter(dev, &d);

	if (err == MSD_OK)
		return 0;
	(void)msd_abi_raise_code(err, "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
	return -1;
}

/* Host code of a device module first sets its device: __tvm_set_device(type, id). */
static int set_device(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	char device[MSD_DTYPE_NAME_MAX];

	(void)self;
	(void)ret;
	if (n != 2 || args[0].type != MSD_T_INT || args[1].type != MSD_T_INT) {
		return msd_abi_raise("TypeError",
				     "__tvm_set_device: expected (int, int)");
	}
	const struct msd_device wanted = {(int32_t)args[0].as.i, (int32_t)args[1].as.i};
	struct msd_dev *dev = msd_dev_peek(wanted);
	if (wanted.type != MSD_DEV_CPU && dev == NULL) {
		return msd_abi_raise_code(
			MSD_UNSUPPORTED,
			"device %s:%d: this module was not placed there",
			msd_device_type_format(wanted.type, device), wanted.id);
	}
	msd_dev_set_current(wanted);
	/* A library may call the driver or its runtime API itself. */
	return dev != NULL && dev->ops->enter != NULL ? enter(dev) : 0;
}

const struct msd_global msd_globals_device[] = MSD_GLOBAL_TABLE(MSD_PACKED_DEVICE);
