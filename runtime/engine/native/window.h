#ifndef MSD_RUNTIME_ENGINE_NATIVE_WINDOW_H
#define MSD_RUNTIME_ENGINE_NATIVE_WINDOW_H
/* Windows of convolutions and pools, laid out for the kernels. */
#include "graph/op/window/window.h"
#include "runtime/engine/native/kernels.h"

/** False: the kernels do not know such padding. */
bool msd_native_window_fits(const struct msd_op_window axes[static MSD_OP_AXES]);
/** Fill @ret but for its x and fill. */
void msd_native_window_set(const struct msd_op_window axes[static MSD_OP_AXES],
			   struct msd_native_window *ret);

/** Elements of a padded plane. */
size_t msd_native_window_padded(const struct msd_native_window *w);

#endif
