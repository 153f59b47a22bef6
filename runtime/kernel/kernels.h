#ifndef MSD_RUNTIME_ENGINE_KERNELS_H
#define MSD_RUNTIME_ENGINE_KERNELS_H
/* The reference engine's kernels. The rows of graph/op/table.h say which there are. */
#include "graph/op/table.h"
#include "runtime/kernel/kernel.h"

/* X(name) for a row with a kernel, nothing for others. */
#define MSD_IF_KERNEL(X, name) X(name)
#define MSD_IF_NO_KERNEL(X, name)

#define MSD_KERNEL_DECLARE_ROW(name) extern const struct msd_kernel msd_kernel_##name;
#define MSD_KERNEL_DECLARE(name, has) MSD_IF_##has(MSD_KERNEL_DECLARE_ROW, name)
MSD_OPS(MSD_KERNEL_DECLARE)
#undef MSD_KERNEL_DECLARE
#undef MSD_KERNEL_DECLARE_ROW

#endif
