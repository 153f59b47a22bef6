/* Slices, and the moves of blocks between places and batches. */
#include <stdint.h>

#include "graph/ir/graph.h"
#include "graph/serializer/build/blocks.h"
#include "graph/serializer/tensorflow/layer.h"
#include "graph/serializer/tensorflow/stride.h"

#define MAX MODSER_GRAPH_MAX_NDIM

static bool has_bit(const struct tf_layer *x, const char *mask, size_t i)
{
	return ((uint64_t)tf_int(x, mask, 0) >> i & 1u) != 0;
}

/* The end of a range of one place; the last place has no number after it. */
static int64_t end_of_one(int64_t begin)
{
	return begin == -1 || begin == INT64_MAX ? INT64_MAX : begin + 1;
}

struct tf_stride tf_stride_of(const struct tf_layer *x, size_t i, int64_t begin,
			      int64_t end, int64_t step)
{
	struct tf_stride s = {begin, end, step, has_bit(x, "shrink_axis_mask", i)};

	if (s.is_one) {
		s.step = 1;
		s.end = end_of_one(begin);
		return s;
	}
	if (has_bit(x, "begin_mask", i))
		s.begin = step < 0 ? INT64_MAX : 0;
	if (has_bit(x, "end_mask", i))
		s.end = step < 0 ? INT64_MIN : INT64_MAX;
	return s;
}

/* Ranges of axes of a tensor. */
struct ranges {
	size_t n;
	int64_t begin[MAX], end[MAX], axis[MAX], step[MAX];
};

static modser_sg_tensor *slice(const struct tf_layer *x, modser_sg_tensor *t,
			       const struct ranges *r)
{
	return tf_slice(x, t, r->begin, r->end, r->axis, r->step, r->n);
}

/* Begins and ends that a call brings: index by index, in one list. */
static modser_sg_tensor *slice_computed(const struct tf_layer *x, modser_sg_tensor *t,
					modser_sg_tensor *begin, modser_sg_tensor *end)
{
	modser_sg_tensor *const in[] = {t, begin, end};

	return tf_done(
		msd_build_int(msd_build_node(&x->b, "Slice", in, 3), "isonnx", 1));
}

static bool all_known(const struct tf_layer *x, size_t i)
{
	size_t n;
	const int64_t *ints = tf_ints(x->f->l, x->in[i], &n);

	for (size_t k = 0; ints != NULL && k < n; k++) {
		if (ints[k] == TF_UNKNOWN)
			return false;
	}
	return ints != NULL;
}

/* Sizes that a call brings are added to the begins. */
static modser_sg_tensor *load_slice(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	int64_t size[MAX];
	struct ranges r = {0};
	size_t n;

	if (t == NULL)
		return NULL;
	if (!all_known(x, 1) || !all_known(x, 2)) {
		modser_sg_tensor *begin = tf_cast(x, tf_in(x, 1), "int64");
		modser_sg_tensor *more = tf_cast(x, tf_in(x, 2), "int64");
		size_t n_sizes = 0;
		const int64_t *sizes = tf_ints(x->f->l, x->in[2], &n_sizes);

		for (size_t i = 0; sizes == NULL || i < n_sizes; i++) {
			if (sizes == NULL || sizes[i] == -1) {
				return tf_fail(x, "its sizes are not known before a "
						  "call");
			}
		}
		return slice_computed(x, t, begin, tf_two(x, "Add", begin, more));
	}
	if (!tf_known(x, 1, r.begin, MAX, &r.n) || !tf_known(x, 2, size, MAX, &n))
		return NULL;
	if (r.n != n)
		return tf_fail(x, "%zu begins and %zu sizes", r.n, n);
	for (size_t i = 0; i < n; i++) {
		r.axis[i] = (int64_t)i;
		r.step[i] = 1;
		if (size[i] < 0 ||
		    __builtin_add_overflow(r.begin[i], size[i], &r.end[i]))
			r.end[i] = INT64_MAX;
	}
	return slice(x, t, &r);
}

/* A strided slice, axis by axis. */
struct spec {
	size_t n;   /* indices */
	size_t own; /* indices that use an axis */
	struct ranges r;
	size_t index[MAX]; /* the index of each range */
	int64_t gone[MAX], added[MAX];
	size_t n_gone, n_added;
};

/* Give each index its axis. */
static bool place(const struct tf_layer *x, const modser_sg_tensor *t, struct spec *s)
{
	size_t ndim = s->own;
	int64_t axis = 0;
	int64_t out = 0;
	bool has_ellipsis = false;

	for (size_t i = 0; i < s->n; i++)
		has_ellipsis = has_ellipsis || has_bit(x, "ellipsis_mask", i);
	if (has_ellipsis && !tf_ndim(x, t, &ndim))
		return false;
	if (s->own > ndim || (t->ndim >= 0 && s->own > (size_t)t->ndim)) {
		(void)tf_fail(x, "%zu ranges of %d axes", s->own, t->ndim);
		return false;
	}
	for (size_t i = 0; i < s->n; i++) {
		if (has_bit(x, "ellipsis_mask", i)) {
			axis += (int64_t)(ndim - s->own);
			out += (int64_t)(ndim - s->own);
			ndim = s->own; /* a second one would stand for nothing */
		} else if (has_bit(x, "new_axis_mask", i)) {
			s->added[s->n_added++] = out++;
		} else {
			s->index[s->r.n] = i;
			s->r.axis[s->r.n++] = axis;
			if (has_bit(x, "shrink_axis_mask", i)) {
				s->gone[s->n_gone++] = axis;
			} else {
				out++;
			}
			axis++;
		}
	}
	return true;
}

/* Element @i of list @t as a list of one. */
static modser_sg_tensor *element(const struct tf_layer *x, modser_sg_tensor *t,
				 size_t i)
{
	const int64_t begin = (int64_t)i;
	const int64_t end = begin + 1;
	const int64_t axis = 0;
	const int64_t step = 1;

	return tf_slice(x, t, &begin, &end, &axis, &step, 1);
}

/* The begin or the end of range @k: a constant, or computed in a call. */
static modser_sg_tensor *bound(const struct tf_layer *x, const struct spec *s, size_t k,
			       bool is_end)
{
	const size_t i = s->index[k];
	const char *mask = is_end ? "end_mask" : "begin_mask";
	const bool is_one = has_bit(x, "shrink_axis_mask", i);
	const int64_t step = s->r.step[k];
	const int64_t masked = (step > 0) == is_end ? INT64_MAX
			       : is_end             ? INT64_MIN
						    : 0;
	size_t n;
	const size_t from = is_end && !is_one ? 2 : 1;
	const int64_t *ints = tf_ints(x->f->l, x->in[from], &n);

	if (!is_one && has_bit(x, mask, i))
		return msd_build_ints(&x->b, &masked, 1);
	if (ints != NULL && i < n && ints[i] != TF_UNKNOWN) {
		const int64_t v = is_one && is_end ? end_of_one(ints[i]) : ints[i];

		return msd_build_ints(&x->b, &v, 1);
	}
	modser_sg_tensor *t = element(x, tf_cast(x, tf_in(x, from), "int64"), i);
	const int64_t one = 1;
	if (is_one && is_end)
		t = tf_two(x, "Add", t, msd_build_ints(&x->b, &one, 1));
	return t;
}

static modser_sg_tensor *slice_bounds(const struct tf_layer *x, modser_sg_tensor *t,
				      const struct spec *s)
{
	modser_sg_tensor *begins[MAX];
	modser_sg_tensor *ends[MAX];
	const size_t n = s->r.n;

	for (size_t k = 0; k < n; k++) {
		begins[k] = bound(x, s, k, false);
		ends[k] = bound(x, s, k, true);
		if (begins[k] == NULL || ends[k] == NULL)
			return NULL;
	}
	modser_sg_tensor *const in[] = {t, tf_concat(x, begins, n, 0),
					tf_concat(x, ends, n, 0),
					msd_build_ints(&x->b, s->r.axis, n),
					msd_build_ints(&x->b, s->r.step, n)};
	modser_sg_tensor *made = tf_done(
		msd_build_int(msd_build_node(&x->b, "Slice", in, 5), "isonnx", 1));
	if (made != NULL && made->ndim < 0 && t->ndim >= 0) {
		int64_t dims[MAX];

		for (int k = 0; k < t->ndim; k++)
			dims[k] = t->dims[k];
		for (size_t k = 0; k < n; k++) {
			dims[s->r.axis[k]] =
				has_bit(x, "shrink_axis_mask", s->index[k]) ? 1 : -1;
		}
		if (modser_sg_tensor_set_dims(made, dims, (size_t)t->ndim) != 0)
			return NULL;
	}
	return made;
}

/* Read the bounds of all ranges, which are constants, into @s. */
static bool read_bounds(const struct tf_layer *x, const int64_t *steps, struct spec *s)
{
	int64_t begin[MAX];
	int64_t end[MAX];
	size_t n[2];

	if (!tf_known(x, 1, begin, MAX, &n[0]) || !tf_known(x, 2, end, MAX, &n[1]))
		return false;
	if (n[0] != s->n || n[1] != s->n) {
		(void)tf_fail(x, "its lists are not of one length");
		return false;
	}
	for (size_t k = 0; k < s->r.n; k++) {
		const size_t i = s->index[k];
		const struct tf_stride one =
			tf_stride_of(x, i, begin[i], end[i], steps[i]);

		s->r.begin[k] = one.begin;
		s->r.end[k] = one.end;
	}
	return true;
}

/* Ranges first, then axes of one place are removed, then new axes are added. */
static modser_sg_tensor *load_strided_slice(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	const modser_sg_tensor *begins = t != NULL ? tf_in(x, 1) : NULL;
	int64_t steps[MAX];
	struct spec s = {0};

	if (begins == NULL || !tf_known(x, 3, steps, MAX, &s.n))
		return NULL;
	for (size_t i = 0; i < s.n; i++) {
		s.own += !has_bit(x, "ellipsis_mask", i) &&
			 !has_bit(x, "new_axis_mask", i);
	}
	if (!place(x, t, &s))
		return NULL;
	for (size_t k = 0; k < s.r.n; k++) {
		const size_t i = s.index[k];

		s.r.step[k] = has_bit(x, "shrink_axis_mask", i) ? 1 : steps[i];
	}
	if (all_known(x, 1) && all_known(x, 2)) {
		if (!read_bounds(x, steps, &s))
			return NULL;
		t = slice(x, t, &s.r);
	} else {
		t = s.r.n > 0 ? slice_bounds(x, t, &s) : t;
	}
	if (s.n_gone > 0)
		t = tf_with_axes(x, "Squeeze", t, s.gone, s.n_gone);
	return tf_with_axes(x, "Unsqueeze", t, s.added, s.n_added);
}

static modser_sg_tensor *load_reverse(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	struct ranges r = {0};

	if (t == NULL || !tf_known(x, 1, r.axis, MAX, &r.n))
		return NULL;
	for (size_t i = 0; i < r.n; i++) {
		r.begin[i] = INT64_MAX;
		r.end[i] = INT64_MIN;
		r.step[i] = -1;
	}
	return slice(x, t, &r);
}

static bool read_blocks(const struct tf_layer *x, const modser_sg_tensor *t,
			struct msd_blocks *ret)
{
	char why[MSD_BLOCKS_FAULT];

	if (t == NULL || !tf_ndim(x, t, &ret->ndim) ||
	    !tf_known(x, 1, ret->size, MSD_MAX_BLOCKS, &ret->n) ||
	    !tf_known(x, 2, ret->edge, 2 * MSD_MAX_BLOCKS, &ret->n_edges))
		return false;
	for (size_t i = 0; i < ret->ndim; i++)
		ret->dims[i] = t->dims[i];
	if (msd_blocks_check(ret, why))
		return true;
	(void)tf_fail(x, "%s", why);
	return false;
}

static modser_sg_tensor *move_blocks(const struct tf_layer *x, modser_sg_tensor *t,
				     const struct msd_blocks *b,
				     const struct msd_blocks_moves *m)
{
	t = tf_reshape(x, t, m->parted, m->n);
	t = tf_transpose(x, t, m->perm, m->n);
	return tf_reshape(x, t, m->dims, b->ndim);
}

static modser_sg_tensor *load_space_to_batch(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	struct msd_blocks b = {0};
	struct msd_blocks_moves m;

	if (!read_blocks(x, t, &b))
		return NULL;
	msd_blocks_to_batch(&b, &m);
	t = tf_two(x, "Pad", t, msd_build_ints(&x->b, m.pads, 2 * b.ndim));
	return move_blocks(x, t, &b, &m);
}

static modser_sg_tensor *load_batch_to_space(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	struct msd_blocks b = {0};
	struct msd_blocks_moves m;

	if (!read_blocks(x, t, &b))
		return NULL;
	msd_blocks_to_space(&b, &m);
	t = move_blocks(x, t, &b, &m);
	return tf_slice(x, t, m.begin, m.end, m.axis, m.step, b.n);
}

const struct tf_row tf_rows_slice[] = {
	{"BatchToSpaceND", 3, 3, .one = load_batch_to_space},
	{"SpaceToBatchND", 3, 3, .one = load_space_to_batch},
	{"StridedSlice", 4, 4, .one = load_strided_slice},
	{"Slice", 3, 3, .one = load_slice},
	{"ReverseV2", 2, 2, .one = load_reverse},
	{0},
};
