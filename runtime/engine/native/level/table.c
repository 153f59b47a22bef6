/* The kernels of one level. */
#include "runtime/engine/native/level/level.h"

#define MSD_TEXT2(text) #text
#define MSD_TEXT(text) MSD_TEXT2(text)
#define ROW(field) .field = LEVEL(field)

extern const struct msd_native_integer_kernels LEVEL(integers);
extern const struct msd_native_kernels LEVEL(kernels);
const struct msd_native_kernels LEVEL(kernels) = {
	.name = MSD_TEXT(MSD_LEVEL),
	.lanes = LANES,
	.rows = ROWS,
	.panel = PANEL,
	.product_scratch = &LEVEL(product_scratch),
	ROW(pack_a_floats),
	ROW(pack_b_floats),
	ROW(pack_a),
	ROW(pack_b),
	ROW(product),
	ROW(convolve),
	ROW(bring_matrix),
	ROW(bring_window),
	ROW(pad_plane),
	ROW(depthwise),
	ROW(direct),
	ROW(winograd_bring),
	ROW(winograd_put),
	ROW(is_tame),
	ROW(spread),
	ROW(resample),
	ROW(weigh),
	ROW(dots),
	ROW(mix),
	ROW(unary),
	ROW(binary),
	ROW(softmax),
	ROW(soften),
	ROW(norm),
	ROW(reduce),
	ROW(reduce_columns),
	ROW(affine),
	ROW(pool),
	ROW(lstm),
	ROW(gru),
	ROW(widen),
	ROW(narrow),
	.integers = &LEVEL(integers),
};
