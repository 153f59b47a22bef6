/* RotaryEmbedding. */
#include "graph/op/attention/rotary.h"

#include "graph/op/attention/params.h"
#include "runtime/kernel/kernels.h"

/* Rotate the elements of one head, whose first one is @x, by row @row of the tables. */
static void rotate(const struct msd_kernel_call *c, const struct msd_op_rotary *r,
		   size_t x, size_t row, bool is_interleaved)
{
	const size_t half = (size_t)r->rotated / 2;

	for (size_t k = 0; k < half; k++) {
		const size_t a = x + (is_interleaved ? 2 * k : k);
		const size_t b = x + (is_interleaved ? 2 * k + 1 : half + k);
		const double cosine = msd_kernel_get(c, MSD_ROTARY_COS, row * half + k);
		const double sine = msd_kernel_get(c, MSD_ROTARY_SIN, row * half + k);
		const double real = msd_kernel_get(c, 0, a);
		const double imaginary = msd_kernel_get(c, 0, b);

		msd_kernel_put(c, 0, a, cosine * real - sine * imaginary);
		msd_kernel_put(c, 0, b, sine * real + cosine * imaginary);
	}
	for (size_t k = (size_t)r->rotated; k < (size_t)r->size; k++)
		msd_kernel_put(c, 0, x + k, msd_kernel_get(c, 0, x + k));
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const bool is_interleaved =
		msd_params_rotary_embedding(c->node).interleaved != 0;
	struct msd_op_rotary r;

	if (msd_op_rotary_of(c->node, &r) != 0)
		return msd_diag_set(d, MSD_BAD_ARGUMENT, "its inputs do not fit");
	for (int64_t i = 0; i < r.batch * r.length; i++) {
		int64_t row = i;

		if (msd_kernel_has(c, MSD_ROTARY_PLACES)) {
			const msd_err err = msd_kernel_index(
				c, MSD_ROTARY_PLACES, i,
				msd_kernel_in_dims(c, MSD_ROTARY_COS)[0], &row, d);

			if (err != MSD_OK)
				return err;
		}
		for (int64_t h = 0; h < r.heads; h++) {
			const int64_t head =
				r.is_packed ? i * r.heads + h
					    : (i / r.length * r.heads + h) * r.length +
						      i % r.length;

			rotate(c, &r, (size_t)(head * r.size), (size_t)row,
			       is_interleaved);
		}
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_rotary_embedding = {"RotaryEmbedding", run,
						       MSD_TAKES_NUMBERS};
