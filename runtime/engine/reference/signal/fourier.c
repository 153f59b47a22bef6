/* DFT and STFT, by their definition: a sum of products for each frequency. */
#include "graph/op/signal/fourier.h"

#include <math.h>
#include <stdlib.h>

#include "graph/op/signal/params.h"
#include "runtime/kernel/kernels.h"

#define TURN 6.283185307179586476925

struct complex_number {
	double re;
	double im;
};

/* Independent rows to transform. */
struct spectra {
	const struct msd_kernel_call *c;
	struct complex_number *wheel; /* n roots of unity */
	size_t n;                     /* length of a transform */
	size_t bins;                  /* number of requested frequencies */
	size_t parts;                 /* 1: real, 2: complex */
	size_t n_in;                  /* number of existing elements in a row */
	size_t step;                  /* stride of the elements */
	size_t outer_in;              /* stride of the rows, see row_at() */
	size_t inner;
	size_t frames;  /* number of frames of a signal; 0: a DFT */
	size_t between; /* distance of the frames */
	double scale;
};

static bool make_wheel(struct spectra *s, bool is_inverse)
{
	s->wheel = calloc(s->n, sizeof(*s->wheel));
	for (size_t i = 0; s->wheel != NULL && i < s->n; i++) {
		const double angle = TURN * (double)i / (double)s->n;

		s->wheel[i].re = cos(angle);
		s->wheel[i].im = is_inverse ? sin(angle) : -sin(angle);
	}
	return s->wheel != NULL;
}

/* Element @j of the row that begins at @first, multiplied by the window for an STFT. */
static struct complex_number element(const struct spectra *s, size_t first, size_t j)
{
	const size_t at = (first + j * s->step) * s->parts;
	const double weight = s->frames > 0 && msd_kernel_has(s->c, 2)
				      ? msd_kernel_get(s->c, 2, j)
				      : 1;
	const struct complex_number x = {
		weight * msd_kernel_get(s->c, 0, at),
		s->parts == 2 ? weight * msd_kernel_get(s->c, 0, at + 1) : 0};

	return x;
}

static void transform(const void *ctx, size_t row)
{
	const struct spectra *s = ctx;
	const size_t per = s->frames > 0 ? s->frames : s->inner;
	const size_t first =
		row / per * s->outer_in + row % per * (s->frames > 0 ? s->between : 1);
	const size_t to =
		s->frames > 0 ? row * s->bins : row / per * s->bins * per + row % per;
	const size_t out_step = s->frames > 0 ? 1 : s->inner;

	for (size_t k = 0; k < s->bins; k++) {
		const size_t at = (to + k * out_step) * 2;
		struct complex_number sum = {0, 0};
		size_t turn = 0;

		for (size_t j = 0; j < s->n_in; j++) {
			const struct complex_number x = element(s, first, j);
			const struct complex_number w = s->wheel[turn];

			sum.re += x.re * w.re - x.im * w.im;
			sum.im += x.re * w.im + x.im * w.re;
			turn = (turn + k) % s->n;
		}
		msd_kernel_put(s->c, 0, at, sum.re * s->scale);
		msd_kernel_put(s->c, 0, at + 1, sum.im * s->scale);
	}
}

static msd_err run(struct spectra *s, size_t rows, bool is_inverse, struct msd_diag *d)
{
	if (msd_kernel_out_elements(s->c, 0) == 0)
		return MSD_OK;
	if (!make_wheel(s, is_inverse))
		return msd_diag_no_memory(d);
	msd_kernel_each(rows, 10 * msd_kernel_out_elements(s->c, 0) / rows, transform,
			s);
	free(s->wheel);
	return MSD_OK;
}

static msd_err run_dft(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	size_t axis = 0;

	if (msd_op_dft_axis(c->node, &axis) != 0) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "its axis is not known where it runs");
	}
	const bool is_inverse = msd_params_dft(c->node).inverse != 0;
	const size_t there = (size_t)dims[axis];
	const size_t n = msd_kernel_has(c, 1) ? (size_t)msd_kernel_get(c, 1, 0) : there;
	const size_t inner = msd_kernel_inner(dims, ndim - 1, axis);
	struct spectra s = {
		.c = c,
		.n = n,
		.bins = (size_t)msd_kernel_out_dims(c, 0)[axis],
		.parts = (size_t)dims[ndim - 1],
		.n_in = there < n ? there : n,
		.step = inner,
		.outer_in = there * inner,
		.inner = inner,
		.scale = is_inverse ? 1 / (double)n : 1,
	};

	return run(&s, msd_kernel_outer(dims, axis) * inner, is_inverse, d);
}

static msd_err run_stft(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const int64_t *out = msd_kernel_out_dims(c, 0);
	int64_t step = 1;
	int64_t length = 1;

	if (msd_op_frames(c->node, &step, &length) != 0) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "its frames are not known where it runs");
	}
	struct spectra s = {
		.c = c,
		.n = (size_t)length,
		.bins = (size_t)out[2],
		.parts = (size_t)dims[2],
		.n_in = (size_t)length,
		.step = 1,
		.outer_in = (size_t)dims[1],
		.inner = 1,
		.frames = (size_t)out[1],
		.between = (size_t)step,
		.scale = 1,
	};
	return run(&s, (size_t)(out[0] * out[1]), false, d);
}

const struct msd_kernel msd_kernel_dft = {"DFT", run_dft, MSD_TAKES_FLOATS};
const struct msd_kernel msd_kernel_stft = {"STFT", run_stft, MSD_TAKES_FLOATS};
