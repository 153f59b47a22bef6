#ifndef MSD_TESTS_CUDA_PLACE_H
#define MSD_TESTS_CUDA_PLACE_H

#include "runtime/device/device.h"
#include "tests/runtime/support.h"
/* Fixtures on a CUDA device, the stand-in's or a real one: what they compute is
 * compared with the arrays beside them. */

struct place {
	struct lib lib;
	struct msd_dev *dev;
	char file[128]; /* in the fixtures */
};

/** Open @file and place it on @dev's device. False after a line: no fixtures. @ret_err,
 * when there is one, gets the placing's result; else it must succeed. */
bool place_open(struct place *p, struct msd_dev *dev, const char *file,
		msd_err *ret_err);
void place_close(struct place *p);

/** f(a, c) and f(a, b, c) over the .npy files of these names; c within @tolerance,
 * relative; 0: bit for bit. */
void expect_arrays(struct place *p, const char *function, const char *const *names,
		   size_t n, double tolerance);
/** scale_shift(0.25, A, -3, C) of the 0.8 operators. */
void expect_scale_shift(struct place *p);
/** addone over all sizes of addone.npz. */
void expect_addone(struct place *p);
/** axpb(in0, alpha, beta, out) and rev256(in0, out) of 0.27. */
void expect_axpb(struct place *p);
void expect_rev256(struct place *p);

#endif
