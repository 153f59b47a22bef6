/* RoiAlign: each position of a region is the mean or maximum of some points in it;
 * each point is interpolated from four elements. */
#include <math.h>
#include <string.h>

#include "graph/op/window/params.h"
#include "runtime/kernel/kernels.h"

/* Points per position and axis. Regions are data, so without a limit a large one
 * would run forever. */
#define MAX_POINTS 4096

struct align {
	const struct msd_kernel_call *c;
	const int64_t *x; /* extents of the images and of the output */
	const int64_t *y;
	double shift;
	bool is_whole; /* a region has an extent of at least 1 */
	bool is_max;
};

/* Start of a region on an axis, width of an output position, and number of points. */
struct span {
	double from;
	double width;
	double n;
};

static struct span span_of(const struct align *a, size_t roi, size_t low, int64_t out)
{
	const struct msd_params_roi_align p = msd_params_roi_align(a->c->node);
	const double scale = (double)p.spatial_scale;
	const double ratio = (double)p.sampling_ratio;
	const double from = msd_kernel_get(a->c, 1, 4 * roi + low) * scale - a->shift;
	const double to = msd_kernel_get(a->c, 1, 4 * roi + low + 2) * scale - a->shift;
	const double all = a->is_whole && !(to - from >= 1) ? 1 : to - from;

	const double n = ratio > 0 ? ratio : ceil(all / (double)out);

	return (struct span){from, all / (double)out, n < 0 ? 0 : n};
}

/* The two elements of an axis around @v, and the weight of the second. False: @v is
 * too far outside. */
static bool around(double v, int64_t n, int64_t ret[2], double *ret_part)
{
	if (!(v >= -1 && v <= (double)n))
		return false;
	v = v > 0 ? v : 0;
	ret[0] = (int64_t)v < n - 1 ? (int64_t)v : n - 1;
	ret[1] = ret[0] < n - 1 ? ret[0] + 1 : ret[0];
	*ret_part = ret[0] < n - 1 ? v - (double)ret[0] : 0;
	return true;
}

/* Value at a point of a plane: the sum or the maximum of its four weighted elements. */
static double point(const struct align *a, size_t plane, double y, double x)
{
	int64_t rows[2];
	int64_t columns[2];
	double part_y;
	double part_x;
	double ret = a->is_max ? -INFINITY : 0;

	if (!around(y, a->x[2], rows, &part_y) || !around(x, a->x[3], columns, &part_x))
		return 0;
	for (size_t i = 0; i < 4; i++) {
		const double weight = (i < 2 ? 1 - part_y : part_y) *
				      (i % 2 == 0 ? 1 - part_x : part_x);
		const int64_t at = rows[i / 2] * a->x[3] + columns[i % 2];
		const double v = weight * msd_kernel_get(a->c, 0, plane + (size_t)at);

		ret = a->is_max ? fmax(ret, v) : ret + v;
	}
	return ret;
}

static double place(const struct align *a, size_t plane, const struct span *h,
		    const struct span *w, size_t i)
{
	const int64_t row = (int64_t)i / a->y[3];
	const int64_t column = (int64_t)i % a->y[3];
	const double top = h->from + (double)row * h->width;
	const double left = w->from + (double)column * w->width;
	double sum = 0;
	double most = -INFINITY;

	for (int64_t r = 0; r < (int64_t)h->n; r++) {
		for (int64_t k = 0; k < (int64_t)w->n; k++) {
			const double v = point(
				a, plane, top + ((double)r + 0.5) * h->width / h->n,
				left + ((double)k + 0.5) * w->width / w->n);

			sum += v;
			most = fmax(most, v);
		}
	}
	if (a->is_max)
		return isinf(most) ? 0 : most;
	return sum / fmax(h->n * w->n, 1);
}

static msd_err run_roi(const struct align *a, size_t roi, size_t image,
		       struct msd_diag *d)
{
	const struct span h = span_of(a, roi, 1, a->y[2]);
	const struct span w = span_of(a, roi, 0, a->y[3]);
	const size_t in_plane = (size_t)(a->x[2] * a->x[3]);
	const size_t out_plane = (size_t)(a->y[2] * a->y[3]);

	if (!(h.n <= MAX_POINTS && w.n <= MAX_POINTS)) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT, "region %zu is too large",
				    roi);
	}
	for (size_t k = 0; k < (size_t)a->x[1]; k++) {
		const size_t from = (image * (size_t)a->x[1] + k) * in_plane;
		const size_t to = (roi * (size_t)a->x[1] + k) * out_plane;

		for (size_t i = 0; i < out_plane; i++)
			msd_kernel_put(a->c, 0, to + i, place(a, from, &h, &w, i));
	}
	return MSD_OK;
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_roi_align p = msd_params_roi_align(c->node);
	const bool is_half =
		strcmp(p.coordinate_transformation_mode, "half_pixel") == 0;
	const struct align a = {
		.c = c,
		.x = msd_kernel_in_dims(c, 0),
		.y = msd_kernel_out_dims(c, 0),
		.shift = is_half ? 0.5 : 0,
		.is_whole = !is_half,
		.is_max = strcmp(p.mode, "max") == 0,
	};
	msd_err err = MSD_OK;

	for (int64_t i = 0; err == MSD_OK && i < a.y[0]; i++) {
		int64_t image;

		err = msd_kernel_index(c, 2, i, a.x[0], &image, d);
		if (err == MSD_OK)
			err = run_roi(&a, (size_t)i, (size_t)image, d);
	}
	return err;
}

const struct msd_kernel msd_kernel_roi_align = {"RoiAlign", run, MSD_TAKES_FLOATS};
