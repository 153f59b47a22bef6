/* HannWindow, HammingWindow, BlackmanWindow: sums of two or three cosines.
 * MelWeightMatrix: triangles on the mel scale. */
#include <math.h>
#include <string.h>

#include "graph/op/signal/params.h"
#include "runtime/kernel/kernels.h"
#include "runtime/value/element.h"

#define TURN 6.283185307179586476925

static msd_err check(const struct msd_kernel_call *c, struct msd_diag *d)
{
	if (msd_number_kind(msd_kernel_out_dtype(c, 0)) == MSD_N_NONE) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "no kernel makes such elements");
	}
	return MSD_OK;
}

static msd_err run_window(const struct msd_kernel_call *c, const double of[3],
			  struct msd_diag *d)
{
	const size_t n = msd_kernel_out_elements(c, 0);
	const size_t turn =
		msd_params_signal_window(c->node).periodic != 0 || n < 2 ? n : n - 1;
	const msd_err err = check(c, d);

	for (size_t i = 0; err == MSD_OK && i < n; i++) {
		const double at = TURN * (double)i / (double)turn;

		msd_kernel_put(c, 0, i, of[0] - of[1] * cos(at) + of[2] * cos(2 * at));
	}
	return err;
}

static msd_err run_blackman(const struct msd_kernel_call *c, struct msd_diag *d)
{
	return run_window(c, (const double[]){0.42, 0.5, 0.08}, d);
}

static msd_err run_hamming(const struct msd_kernel_call *c, struct msd_diag *d)
{
	return run_window(c, (const double[]){25.0 / 46, 21.0 / 46, 0}, d);
}

static msd_err run_hann(const struct msd_kernel_call *c, struct msd_diag *d)
{
	return run_window(c, (const double[]){0.5, 0.5, 0}, d);
}

struct mel {
	double lowest; /* in mel */
	double step;
	double bins_per_hertz;
};

static double mel_of(double hertz)
{
	return 2595 * log10(1 + hertz / 700);
}

/* The spectrum bin of corner @i of the triangles. */
static size_t corner(const struct mel *m, size_t i)
{
	const double hertz =
		700 * (pow(10, (m->lowest + (double)i * m->step) / 2595) - 1);

	return (size_t)floor(hertz * m->bins_per_hertz);
}

/* Weight of bin @k in the triangle given by three bins. */
static double weight(size_t k, size_t low, size_t middle, size_t high)
{
	if (k == middle)
		return 1;
	if (k >= low && k < middle)
		return (double)(k - low) / (double)(middle - low);
	if (k > middle && k < high)
		return (double)(high - k) / (double)(high - middle);
	return 0;
}

static msd_err run_mel(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t bins = (size_t)msd_kernel_out_dims(c, 0)[0];
	const size_t filters = (size_t)msd_kernel_out_dims(c, 0)[1];
	const double lowest = mel_of(msd_kernel_get(c, 3, 0));
	const double highest = mel_of(msd_kernel_get(c, 4, 0));
	const struct mel m = {
		.lowest = lowest,
		.step = (highest - lowest) / (double)(filters + 2),
		.bins_per_hertz =
			(msd_kernel_get(c, 1, 0) + 1) / msd_kernel_get(c, 2, 0),
	};
	const msd_err err = check(c, d);

	for (size_t i = 0; err == MSD_OK && i < filters; i++) {
		const size_t low = corner(&m, i);
		const size_t middle = corner(&m, i + 1);
		const size_t high = corner(&m, i + 2);

		for (size_t k = 0; k < bins; k++) {
			msd_kernel_put(c, 0, k * filters + i,
				       weight(k, low, middle, high));
		}
	}
	return err;
}

const struct msd_kernel msd_kernel_blackman_window = {"BlackmanWindow", run_blackman,
						      MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_hamming_window = {"HammingWindow", run_hamming,
						     MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_hann_window = {"HannWindow", run_hann,
						  MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_mel_weights = {"MelWeightMatrix", run_mel,
						  MSD_TAKES_NUMBERS};
