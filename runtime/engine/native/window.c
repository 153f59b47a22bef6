#include "runtime/engine/native/window.h"

#include "runtime/engine/native/level/taps.h"

bool msd_native_window_fits(const struct msd_op_window axes[static MSD_OP_AXES])
{
	for (size_t i = 0; i < MSD_OP_AXES; i++) {
		if (axes[i].before < 0)
			return false;
	}
	return true;
}

size_t msd_native_window_padded(const struct msd_native_window *w)
{
	return w->rows[0] * msd_slice(w);
}

void msd_native_window_set(const struct msd_op_window axes[static MSD_OP_AXES],
			   struct msd_native_window *ret)
{
	struct msd_native_window w = {.is_direct = true};

	for (size_t i = 0; i < MSD_OP_AXES; i++) {
		w.in[i] = (size_t)axes[i].in;
		w.out[i] = (size_t)axes[i].out;
		w.kernel[i] = (size_t)axes[i].kernel;
		w.stride[i] = (size_t)axes[i].stride;
		w.dilation[i] = (size_t)axes[i].dilation;
		w.before[i] = (size_t)axes[i].before;
		w.is_direct = w.is_direct && axes[i].kernel == 1 &&
			      axes[i].stride == 1 && axes[i].before == 0 &&
			      axes[i].out == axes[i].in;
	}
	for (size_t i = 0; i < 2; i++) {
		w.rows[i] = (w.out[i] - 1) * w.stride[i] +
			    (w.kernel[i] - 1) * w.dilation[i] + 1;
	}
	w.columns = w.out[2] + (w.kernel[2] - 1) * w.dilation[2] / w.stride[2];
	w.lines = (w.rows[1] + w.stride[1] - 1) / w.stride[1];
	w.plane = w.is_direct ? w.in[0] * w.in[1] * w.in[2]
			      : msd_native_window_padded(&w);
	w.n_taps = w.kernel[0] * w.kernel[1] * w.kernel[2];
	for (size_t i = 0; i < w.n_taps && i < MSD_NATIVE_TAPS; i++)
		w.taps[i] = msd_tap_at(&w, i);
	*ret = w;
}
