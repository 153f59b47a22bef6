#ifndef MSD_RUNTIME_ENGINE_NATIVE_LEVEL_LEVEL_H
#define MSD_RUNTIME_ENGINE_NATIVE_LEVEL_LEVEL_H
/* The functions of one level, which table.c collects. */
#include "runtime/engine/native/level/lanes.h"

/* Values that are not numbers stay. */
INLINE vec msd_bound(vec v, const struct msd_native_finish *b)
{
	return least(most(v, all(b->low)), all(b->high));
}

#define MSD_DECLARE(field)                                                             \
	extern __typeof__(*((struct msd_native_kernels *)0)->field) LEVEL(field)

extern const size_t LEVEL(product_scratch);
MSD_DECLARE(pack_a_floats);
MSD_DECLARE(pack_b_floats);
MSD_DECLARE(pack_a);
MSD_DECLARE(pack_b);
MSD_DECLARE(product);
MSD_DECLARE(convolve);
MSD_DECLARE(bring_matrix);
MSD_DECLARE(bring_window);
MSD_DECLARE(pad_plane);
MSD_DECLARE(depthwise);
MSD_DECLARE(direct);
MSD_DECLARE(winograd_bring);
MSD_DECLARE(winograd_put);
MSD_DECLARE(is_tame);
MSD_DECLARE(spread);
MSD_DECLARE(resample);
MSD_DECLARE(weigh);
MSD_DECLARE(dots);
MSD_DECLARE(mix);
MSD_DECLARE(unary);
MSD_DECLARE(binary);
MSD_DECLARE(softmax);
MSD_DECLARE(soften);
MSD_DECLARE(norm);
MSD_DECLARE(reduce);
MSD_DECLARE(reduce_columns);
MSD_DECLARE(affine);
MSD_DECLARE(pool);
MSD_DECLARE(lstm);
MSD_DECLARE(gru);
MSD_DECLARE(widen);
MSD_DECLARE(narrow);

#endif
