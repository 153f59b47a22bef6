#ifndef MSD_TESTS_DEVICE_SUPPORT_H
#define MSD_TESTS_DEVICE_SUPPORT_H
/* Tensors on devices for the tests of runtime/device and of modules that run there. */
#include "runtime/device/device.h"
#include "runtime/value/value.h"

/** OpenCL device 0, opened; NULL after a line that says why the test is skipped. */
struct msd_dev *opencl_open(void);
/** A copy of @t on @dev; takes over the reference of @t. */
struct msd_any to_device(struct msd_dev *dev, struct msd_tensor *t);
/** Zeros of @like's dtype and shape on @dev. */
struct msd_any zeros_on(struct msd_dev *dev, const struct msd_tensor *like);
/** Compare what is on @dev with @want, bit by bit; drops both. */
void expect_on_device(struct msd_dev *dev, struct msd_any got, struct msd_tensor *want);

#endif
