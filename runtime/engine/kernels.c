#include "runtime/engine/kernels.h"

#include <string.h>

#define ROW(name) &msd_kernel_##name,
static const struct msd_kernel *const kernels[] = {MSD_KERNELS(ROW)};
#undef ROW

const struct msd_kernel *msd_kernel_find(const char *op)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (strcmp(kernels[i]->op, op) == 0)
			return kernels[i];
	}
	return NULL;
}
