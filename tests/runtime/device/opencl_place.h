#ifndef MSD_TESTS_OPENCL_PLACE_H
#define MSD_TESTS_OPENCL_PLACE_H

#include "tests/runtime/support.h"
/* A fixture that is placed on the first OpenCL device. */

struct opencl_place {
	struct lib lib;
	struct msd_dev *dev;
	char directory[64]; /* of the fixture, for its arrays */
};

/** False, after a line that says so, when there is no such device or no such file. */
bool opencl_place_open(struct opencl_place *p, const char *file);
void opencl_place_close(struct opencl_place *p);
/** The array NAME.npy beside the fixture. */
struct msd_tensor *opencl_array(const struct opencl_place *p, const char *name);

#endif
