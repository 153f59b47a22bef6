#ifndef MSD_RUNTIME_DEVICE_LAUNCH_H
#define MSD_RUNTIME_DEVICE_LAUNCH_H
/*
 * TVM's convention for calling a kernel, the same in both ABIs. First the kernel's
 * parameters, then one integer per launch tag that has a value, in tag order. Tags
 * may be in any order and repeated (the last one counts), an extent of 0 means 1, and
 * flags take no value.
 */
#include "runtime/device/device.h"
#include "runtime/value/value.h"

/* The meaning of the values after the parameters, in order. */
struct msd_launch_plan {
	const struct msd_kernel *kernel; /* borrowed */
	uint8_t *slots;                  /* enum of launch.c; owned */
	size_t n_slots;
	bool is_cooperative;
	bool is_programmatic;
};

/**
 * Parse @kernel's parameters and tags. Errors: MSD_UNSUPPORTED names a tag or a
 * parameter type that cannot be launched, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_launch_plan_make(const struct msd_kernel *kernel,
					    struct msd_launch_plan *ret,
					    struct msd_diag *d);
void msd_launch_plan_finish(struct msd_launch_plan *plan); /* zeroed is fine */

/**
 * Launch kernel @index of @program, which is on @dev, with a caller's values.
 * MSD_BAD_ARGUMENT names the value that does not fit; other errors are the backend's.
 */
MSD_MUST_CHECK msd_err msd_launch_run(const struct msd_launch_plan *plan,
				      struct msd_dev *dev,
				      struct msd_dev_program *program, size_t index,
				      const struct msd_any *args, int32_t n,
				      struct msd_diag *d);

#endif
