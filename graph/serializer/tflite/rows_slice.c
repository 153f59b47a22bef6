/* Slices, and the moves of blocks between places and batches. */
#include <stdint.h>
#include <string.h>

#include "graph/serializer/tflite/layer.h"

/* Ranges of axes of a tensor. */
struct ranges {
	size_t n;
	int64_t begin[MODSER_GRAPH_MAX_NDIM];
	int64_t end[MODSER_GRAPH_MAX_NDIM];
	int64_t axis[MODSER_GRAPH_MAX_NDIM];
	int64_t step[MODSER_GRAPH_MAX_NDIM];
};

static modser_sg_tensor *slice(const struct tflite_layer *x, modser_sg_tensor *t,
			       const struct ranges *r)
{
	if (r->n == 0)
		return t;
	modser_sg_tensor *const in[] = {t, msd_build_ints(&x->b, r->begin, r->n),
					msd_build_ints(&x->b, r->end, r->n),
					msd_build_ints(&x->b, r->axis, r->n),
					msd_build_ints(&x->b, r->step, r->n)};
	modser_sg_tensor *made = msd_build_node(&x->b, "Slice", in, 5);

	return msd_build_done(msd_build_int(made, "isonnx", 1));
}

/* The begins may be computed; the sizes are constants, and -1 is the rest. */
static modser_sg_tensor *load_slice(const struct tflite_layer *x)
{
	struct ranges r = {0};
	modser_sg_tensor *value = tflite_value(x, 0);
	int64_t size[MODSER_GRAPH_MAX_NDIM];
	size_t n;
	bool has_rest = false;

	if (value == NULL || !tflite_ints(x, 2, size, MODSER_GRAPH_MAX_NDIM, &n))
		return NULL;
	for (size_t i = 0; i < n; i++)
		has_rest = has_rest || size[i] < 0;
	if (!tflite_is_constant(x, 1) && !has_rest) {
		modser_sg_tensor *begin = tflite_cast(x, tflite_value(x, 1), "int64");
		modser_sg_tensor *const in[] = {
			value, begin,
			msd_build_two(&x->b, "Add", begin,
				      msd_build_ints(&x->b, size, n))};
		modser_sg_tensor *t = msd_build_node(&x->b, "Slice", in, 3);

		return msd_build_done(msd_build_int(t, "isonnx", 1));
	}
	if (!tflite_ints(x, 1, r.begin, MODSER_GRAPH_MAX_NDIM, &r.n))
		return NULL;
	if (r.n != n)
		return tflite_fail(x, "%zu begins and %zu sizes", r.n, n);
	for (size_t i = 0; i < n; i++) {
		r.axis[i] = (int64_t)i;
		r.step[i] = 1;
		r.end[i] = size[i] < 0 ? INT64_MAX : r.begin[i] + size[i];
	}
	return slice(x, value, &r);
}

/* Bit @i of the mask in field @k of the options. */
static bool is_masked(const struct tflite_layer *x, unsigned k, size_t i)
{
	return ((uint32_t)flat_i32(x->f, &x->options, k, 0) >> i & 1u) != 0;
}

enum { BEGIN_MASK, END_MASK, ELLIPSIS_MASK, NEW_AXIS_MASK, SHRINK_MASK, OFFSET };

/* Index @i selects one place of its axis, or a range of it. */
static void add_range(const struct tflite_layer *x, const struct ranges *given,
		      size_t i, int64_t axis, struct ranges *ret)
{
	const bool is_one = is_masked(x, SHRINK_MASK, i);
	const int64_t step = is_one ? 1 : given->step[i];
	int64_t begin = given->begin[i];
	int64_t end = given->end[i];

	if (flat_u8(x->f, &x->options, OFFSET, 0) != 0)
		end += begin;
	if (is_one) {
		end = begin == -1 ? INT64_MAX : begin + 1;
	} else {
		if (is_masked(x, BEGIN_MASK, i))
			begin = step < 0 ? INT64_MAX : 0;
		if (is_masked(x, END_MASK, i))
			end = step < 0 ? INT64_MIN : INT64_MAX;
	}
	ret->begin[ret->n] = begin;
	ret->end[ret->n] = end;
	ret->axis[ret->n] = axis;
	ret->step[ret->n++] = step;
}

static modser_sg_tensor *with_axes(const struct tflite_layer *x, const char *op,
				   modser_sg_tensor *t, const int64_t *axes, size_t n)
{
	if (n == 0)
		return t;
	modser_sg_tensor *made = msd_build_node(&x->b, op, &t, 1);

	return msd_build_done(msd_build_list(made, "axes", axes, n));
}

/* Ranges first, then axes of one place are removed, then new axes are added. */
static modser_sg_tensor *load_strided_slice(const struct tflite_layer *x)
{
	const size_t ndim = tflite_ndim(x, 0);
	modser_sg_tensor *t = tflite_value(x, 0);
	int64_t gone[MODSER_GRAPH_MAX_NDIM];
	int64_t added[MODSER_GRAPH_MAX_NDIM];
	struct ranges given = {0};
	struct ranges r = {0};
	size_t n_gone = 0;
	size_t n_added = 0;
	size_t out = 0;
	size_t axis = 0;
	size_t own = 0; /* indices that use an axis */
	size_t n[2];

	if (t == NULL ||
	    !tflite_ints(x, 1, given.begin, MODSER_GRAPH_MAX_NDIM, &given.n) ||
	    !tflite_ints(x, 2, given.end, MODSER_GRAPH_MAX_NDIM, &n[0]) ||
	    !tflite_ints(x, 3, given.step, MODSER_GRAPH_MAX_NDIM, &n[1]))
		return NULL;
	if (n[0] != given.n || n[1] != given.n)
		return tflite_fail(x, "its lists are not of one length");
	for (size_t i = 0; i < given.n; i++) {
		own += !is_masked(x, ELLIPSIS_MASK, i) &&
		       !is_masked(x, NEW_AXIS_MASK, i);
	}
	if (own > ndim)
		return tflite_fail(x, "%zu ranges of %zu axes", own, ndim);
	for (size_t i = 0; i < given.n; i++) {
		if (is_masked(x, ELLIPSIS_MASK, i)) {
			axis += ndim - own;
			out += ndim - own;
			own = ndim; /* a second one would stand for nothing */
		} else if (is_masked(x, NEW_AXIS_MASK, i)) {
			added[n_added++] = (int64_t)out++;
		} else {
			add_range(x, &given, i, (int64_t)axis, &r);
			if (is_masked(x, SHRINK_MASK, i)) {
				gone[n_gone++] = (int64_t)axis;
			} else {
				out++;
			}
			axis++;
		}
	}
	t = with_axes(x, "Squeeze", slice(x, t, &r), gone, n_gone);
	return with_axes(x, "Unsqueeze", t, added, n_added);
}

static modser_sg_tensor *load_reverse(const struct tflite_layer *x)
{
	struct ranges r = {0};
	modser_sg_tensor *value = tflite_value(x, 0);

	if (value == NULL || !tflite_ints(x, 1, r.axis, MODSER_GRAPH_MAX_NDIM, &r.n))
		return NULL;
	for (size_t i = 0; i < r.n; i++) {
		r.begin[i] = INT64_MAX;
		r.end[i] = INT64_MIN;
		r.step[i] = -1;
	}
	return slice(x, value, &r);
}

#define MAX_BLOCKS 4u

/* Blocks of the axes behind the batch, and what is padded or cut there. */
struct blocks {
	size_t n;
	int64_t size[MAX_BLOCKS];
	int64_t edge[2 * MAX_BLOCKS]; /* before and after each */
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t ndim;
};

static bool read_blocks(const struct tflite_layer *x, struct blocks *ret)
{
	size_t n;

	ret->ndim = tflite_ndim(x, 0);
	if (!tflite_ints(x, 1, ret->size, MAX_BLOCKS, &ret->n) ||
	    !tflite_ints(x, 2, ret->edge, 2 * MAX_BLOCKS, &n))
		return false;
	if (n != 2 * ret->n || ret->n + 1 > ret->ndim ||
	    ret->ndim + MAX_BLOCKS > MODSER_GRAPH_MAX_NDIM) {
		(void)tflite_fail(x, "%zu blocks of %zu dimensions", ret->n, ret->ndim);
		return false;
	}
	for (size_t i = 0; i < ret->ndim; i++) {
		ret->dims[i] = tflite_extent(x, 0, i);
		if (ret->dims[i] < (i > 0 && i <= ret->n ? 1 : -1)) {
			(void)tflite_fail(x, "extent %zu is open", i);
			return false;
		}
	}
	for (size_t i = 0; i < ret->n; i++) {
		if (ret->size[i] < 1 || ret->size[i] > INT16_MAX ||
		    ret->edge[2 * i] < 0 || ret->edge[2 * i + 1] < 0) {
			(void)tflite_fail(x, "block %zu has size %d", i,
					  (int)ret->size[i]);
			return false;
		}
	}
	return true;
}

/* [B, h, w, ...] becomes [bh, bw, B, h/bh, w/bw, ...]. The batch may be open. */
static modser_sg_tensor *load_space_to_batch(const struct tflite_layer *x)
{
	struct blocks k = {0};
	int64_t pads[2 * MODSER_GRAPH_MAX_NDIM] = {0};
	int64_t parted[MODSER_GRAPH_MAX_NDIM];
	int64_t perm[MODSER_GRAPH_MAX_NDIM];
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	modser_sg_tensor *value = tflite_value(x, 0);
	size_t n = 1;

	if (value == NULL || !read_blocks(x, &k))
		return NULL;
	for (size_t i = 0; i < k.n; i++) {
		pads[1 + i] = k.edge[2 * i];
		pads[k.ndim + 1 + i] = k.edge[2 * i + 1];
		k.dims[1 + i] += pads[1 + i] + pads[k.ndim + 1 + i];
		dims[1 + i] = k.dims[1 + i] / k.size[i];
		parted[n] = dims[1 + i];
		parted[n + 1] = k.size[i];
		perm[i] = (int64_t)n + 1;
		perm[k.n + 1 + i] = (int64_t)n;
		n += 2;
	}
	perm[k.n] = 0;
	parted[0] = -1;
	dims[0] = -1;
	for (size_t i = k.n + 1; i < k.ndim; i++, n++) {
		parted[n] = k.dims[i];
		dims[i] = k.dims[i];
		perm[n] = (int64_t)n;
	}
	modser_sg_tensor *const in[] = {value, msd_build_ints(&x->b, pads, 2 * k.ndim)};
	modser_sg_tensor *t = msd_build_done(msd_build_node(&x->b, "Pad", in, 2));
	t = msd_build_reshape(&x->b, t, parted, n);
	t = msd_build_transpose(&x->b, t, perm, n);
	return msd_build_reshape(&x->b, t, dims, k.ndim);
}

/* The other way: [bh * bw * B, h, w, ...] becomes [B, h, bh, w, bw, ...]. */
static modser_sg_tensor *load_batch_to_space(const struct tflite_layer *x)
{
	struct blocks k = {0};
	struct ranges cut = {0};
	int64_t parted[MODSER_GRAPH_MAX_NDIM];
	int64_t perm[MODSER_GRAPH_MAX_NDIM];
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	modser_sg_tensor *value = tflite_value(x, 0);
	size_t n;

	if (value == NULL || !read_blocks(x, &k))
		return NULL;
	n = k.n;
	parted[n++] = -1;
	perm[0] = (int64_t)k.n;
	dims[0] = -1;
	for (size_t i = 0; i < k.n; i++, n++) {
		parted[i] = k.size[i];
		parted[n] = k.dims[1 + i];
		perm[1 + 2 * i] = (int64_t)n;
		perm[2 + 2 * i] = (int64_t)i;
		dims[1 + i] = k.dims[1 + i] * k.size[i];
		cut.begin[i] = k.edge[2 * i];
		cut.end[i] = dims[1 + i] - k.edge[2 * i + 1];
		cut.axis[i] = (int64_t)i + 1;
		cut.step[i] = 1;
	}
	cut.n = k.n;
	for (size_t i = k.n + 1; i < k.ndim; i++, n++) {
		parted[n] = k.dims[i];
		dims[i] = k.dims[i];
		perm[n] = (int64_t)n;
	}
	modser_sg_tensor *t = msd_build_reshape(&x->b, value, parted, n);
	t = msd_build_transpose(&x->b, t, perm, n);
	t = msd_build_reshape(&x->b, t, dims, k.ndim);
	return slice(x, t, &cut);
}

const struct tflite_row tflite_rows_slice[] = {
	{37, "BATCH_TO_SPACE_ND", 3, 3, .one = load_batch_to_space},
	{38, "SPACE_TO_BATCH_ND", 3, 3, .one = load_space_to_batch},
	{45, "STRIDED_SLICE", 4, 4, .one = load_strided_slice},
	{65, "SLICE", 3, 3, .one = load_slice},
	{105, "REVERSE_V2", 2, 2, .one = load_reverse},
	{0},
};
