/* Layers of detectors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/serializer/build/compose.h"
#include "graph/serializer/mxnet/layer.h"

#define MAX_BOXES 64u /* at each position */

/* Read a list of at most @max numbers; no attribute leaves @ret as it is. */
static bool read_numbers(const struct mxnet_layer *x, const char *name, size_t max,
			 float *ret, size_t *ret_n)
{
	const char *p = mxnet_attr(x->node, name);

	if (p == NULL)
		return true;
	for (size_t n = 0;; n++) {
		char *end;

		p += strspn(p, "([ ,)]");
		if (*p == '\0') {
			*ret_n = n;
			return true;
		}
		const float v = strtof(p, &end);
		if (end == p || !isfinite(v) || n == max) {
			(void)mxnet_fail(x,
					 "%s is \"%.60s\", expected at most %zu "
					 "numbers",
					 name, mxnet_attr(x->node, name), max);
			return false;
		}
		ret[n] = v;
		p = end;
	}
}

/* The corners of box @k around a position: half its extents, in image heights. */
static void set_box(float *x, float *y, float size, float root)
{
	x[0] = -(size * root / 2);
	x[2] = size * root / 2;
	y[1] = -(size / root / 2);
	y[3] = size / root / 2;
}

/* Extent @axis of @image as a scalar. */
static modser_sg_tensor *extent(const struct mxnet_layer *x, int64_t axis)
{
	static const int64_t none[] = {0};
	modser_sg_tensor *t = msd_build_one(&x->b, "Shape", x->in[0].t);

	t = msd_build_range(&x->b, t, 0, axis, axis + 1);
	return mxnet_cast(x, msd_build_reshape(&x->b, t, none, 0), "float32");
}

/* Centres along an axis of @n positions, of the @dims of a column or a row, for the
 * corners that @corners selects. */
static modser_sg_tensor *centres(const struct mxnet_layer *x, modser_sg_tensor *n,
				 float offset, float step, const int64_t dims[4],
				 const float corners[4])
{
	static const int64_t four[] = {4};
	modser_sg_tensor *const in[] = {msd_build_number(&x->b, 0), n,
					msd_build_number(&x->b, 1)};
	modser_sg_tensor *t = msd_build_done(msd_build_node(&x->b, "Range", in, 3));

	t = msd_build_two(&x->b, "Add", t, msd_build_number(&x->b, offset));
	t = step > 0 ? msd_build_two(&x->b, "Mul", t, msd_build_number(&x->b, step))
		     : msd_build_two(&x->b, "Div", t, n);
	return msd_build_two(&x->b, "Mul", msd_build_reshape(&x->b, t, dims, 4),
			     msd_build_floats(&x->b, corners, four, 1));
}

/* Boxes of each size, then of each further ratio, around each position of a map. The
 * extents are those of the call. */
static modser_sg_tensor *load_priors(struct mxnet_layer *x)
{
	float sizes[MAX_BOXES] = {1};
	float ratios[MAX_BOXES] = {1};
	float steps[2] = {-1, -1};
	float offsets[2] = {0.5f, 0.5f};
	float wide[2 * MAX_BOXES][4] = {0};
	float high[2 * MAX_BOXES][4] = {0};
	size_t n_sizes = 1;
	size_t n_ratios = 1;
	size_t n_steps = 2;
	size_t n_offsets = 2;

	if (!read_numbers(x, "sizes", MAX_BOXES, sizes, &n_sizes) ||
	    !read_numbers(x, "ratios", MAX_BOXES, ratios, &n_ratios) ||
	    !read_numbers(x, "steps", 2, steps, &n_steps) ||
	    !read_numbers(x, "offsets", 2, offsets, &n_offsets))
		return NULL;
	if (n_sizes < 1 || n_ratios < 1 || n_steps != 2 || n_offsets != 2)
		return mxnet_fail(x, "it has no sizes, ratios, or pair of steps");
	for (size_t i = 0; i < n_ratios; i++) {
		if (!(ratios[i] > 0))
			return mxnet_fail(x, "ratio %zu is not above 0", i);
	}
	for (size_t i = 0; i < n_sizes; i++)
		set_box(wide[i], high[i], sizes[i], sqrtf(ratios[0]));
	for (size_t i = 1; i < n_ratios; i++) {
		set_box(wide[n_sizes + i - 1], high[n_sizes + i - 1], sizes[0],
			sqrtf(ratios[i]));
	}
	const int64_t boxes[] = {(int64_t)(n_sizes + n_ratios - 1), 4};
	modser_sg_tensor *h = extent(x, 2);
	modser_sg_tensor *w = extent(x, 3);
	modser_sg_tensor *t =
		msd_build_two(&x->b, "Mul", msd_build_floats(&x->b, wide[0], boxes, 2),
			      msd_build_two(&x->b, "Div", h, w));
	t = msd_build_two(&x->b, "Add", t, msd_build_floats(&x->b, high[0], boxes, 2));
	modser_sg_tensor *centre = msd_build_two(
		&x->b, "Add",
		centres(x, w, offsets[1], steps[1], (const int64_t[]){1, -1, 1, 1},
			(const float[]){1, 0, 1, 0}),
		centres(x, h, offsets[0], steps[0], (const int64_t[]){-1, 1, 1, 1},
			(const float[]){0, 1, 0, 1}));
	t = msd_build_reshape(&x->b, msd_build_two(&x->b, "Add", centre, t),
			      (const int64_t[]){1, -1, 4}, 3);
	x->ndim = 3;
	if (!mxnet_bool(x, "clip", false))
		return t;
	modser_sg_tensor *const in[] = {t, msd_build_number(&x->b, 0),
					msd_build_number(&x->b, 1)};
	return msd_build_done(msd_build_node(&x->b, "Clip", in, 3));
}

const struct mxnet_row mxnet_rows_detect[] = {
	{"_contrib_MultiBoxPrior", 1, 1, .one = load_priors},
	{0},
};
