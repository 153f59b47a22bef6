#ifndef MSD_RUNTIME_ENGINE_NATIVE_LEVEL_TAPS_H
#define MSD_RUNTIME_ENGINE_NATIVE_LEVEL_TAPS_H
/*
 * Where the elements of a window lie in a padded plane. Rows lie by their phase (their
 * index modulo the stride), then by the phase of the columns: a stride becomes a
 * distance of 1, and each tap of neighbouring outputs is one stretch of memory, also
 * over the ends of rows.
 */
#include "runtime/engine/native/kernels.h"

enum { D, H, W };

/* The phases that a plane has: a kernel of one element reads the first one. */
static inline size_t msd_phases(const struct msd_native_window *w, size_t axis)
{
	return w->kernel[axis] == 1 ? 1 : w->stride[axis];
}

/* Elements of all rows of one depth. */
static inline size_t msd_slice(const struct msd_native_window *w)
{
	return msd_phases(w, H) * msd_phases(w, W) * w->lines * w->columns;
}

static inline size_t msd_tap_at(const struct msd_native_window *w, size_t tap)
{
	const size_t kw = tap % w->kernel[W] * w->dilation[W];
	const size_t kh = tap / w->kernel[W] % w->kernel[H] * w->dilation[H];
	const size_t kd = tap / w->kernel[W] / w->kernel[H] * w->dilation[D];
	const size_t phase = kh % w->stride[H] * msd_phases(w, W) + kw % w->stride[W];

	return kd * msd_slice(w) + phase * w->lines * w->columns +
	       kh / w->stride[H] * w->columns + kw / w->stride[W];
}

#endif
