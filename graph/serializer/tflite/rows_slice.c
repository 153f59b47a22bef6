/* Slices, and the moves of blocks between places and batches. */
#include <stdint.h>
#include <string.h>

#include "graph/serializer/build/blocks.h"
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
		if (size[i] < 0 ||
		    __builtin_add_overflow(r.begin[i], size[i], &r.end[i]))
			r.end[i] = INT64_MAX;
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

static bool read_blocks(const struct tflite_layer *x, struct msd_blocks *ret)
{
	char why[MSD_BLOCKS_FAULT];

	ret->ndim = tflite_ndim(x, 0);
	if (!tflite_ints(x, 1, ret->size, MSD_MAX_BLOCKS, &ret->n) ||
	    !tflite_ints(x, 2, ret->edge, 2 * MSD_MAX_BLOCKS, &ret->n_edges))
		return false;
	for (size_t i = 0; i < ret->ndim; i++)
		ret->dims[i] = tflite_extent(x, 0, i);
	if (msd_blocks_check(ret, why))
		return true;
	(void)tflite_fail(x, "%s", why);
	return false;
}

static modser_sg_tensor *move_blocks(const struct tflite_layer *x, modser_sg_tensor *t,
				     const struct msd_blocks *b,
				     const struct msd_blocks_moves *m)
{
	t = msd_build_reshape(&x->b, t, m->parted, m->n);
	t = msd_build_transpose(&x->b, t, m->perm, m->n);
	return msd_build_reshape(&x->b, t, m->dims, b->ndim);
}

static modser_sg_tensor *load_space_to_batch(const struct tflite_layer *x)
{
	modser_sg_tensor *t = tflite_value(x, 0);
	struct msd_blocks b = {0};
	struct msd_blocks_moves m;

	if (t == NULL || !read_blocks(x, &b))
		return NULL;
	msd_blocks_to_batch(&b, &m);
	t = msd_build_two(&x->b, "Pad", t, msd_build_ints(&x->b, m.pads, 2 * b.ndim));
	return move_blocks(x, t, &b, &m);
}

static modser_sg_tensor *load_batch_to_space(const struct tflite_layer *x)
{
	modser_sg_tensor *t = tflite_value(x, 0);
	struct msd_blocks b = {0};
	struct ranges cut = {0};
	struct msd_blocks_moves m;

	if (t == NULL || !read_blocks(x, &b))
		return NULL;
	msd_blocks_to_space(&b, &m);
	cut.n = b.n;
	for (size_t i = 0; i < b.n; i++) {
		cut.begin[i] = m.begin[i];
		cut.end[i] = m.end[i];
		cut.axis[i] = m.axis[i];
		cut.step[i] = m.step[i];
	}
	return slice(x, move_blocks(x, t, &b, &m), &cut);
}

const struct tflite_row tflite_rows_slice[] = {
	{37, "BATCH_TO_SPACE_ND", 3, 3, .one = load_batch_to_space},
	{38, "SPACE_TO_BATCH_ND", 3, 3, .one = load_space_to_batch},
	{45, "STRIDED_SLICE", 4, 4, .one = load_strided_slice},
	{65, "SLICE", 3, 3, .one = load_slice},
	{105, "REVERSE_V2", 2, 2, .one = load_reverse},
	{0},
};
