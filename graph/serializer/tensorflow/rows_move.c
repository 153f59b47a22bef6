/* Operators that move elements: they reshape, join, split, pick and pad. */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/build/compose.h"
#include "graph/serializer/tensorflow/layer.h"

/* The dimensions that a tensor of shape @shape has, if its numbers are not known. */
static bool open_dims(const modser_sg_tensor *shape, int64_t *ret, size_t *ret_n)
{
	if (shape->ndim != 1 || shape->dims[0] < 0 ||
	    shape->dims[0] > MODSER_GRAPH_MAX_NDIM)
		return false;
	*ret_n = (size_t)shape->dims[0];
	for (size_t i = 0; i < *ret_n; i++)
		ret[i] = -1;
	return true;
}

/* A shape with one number that is not known is a constant with -1 there. */
static modser_sg_tensor *load_reshape(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	modser_sg_tensor *shape = t != NULL ? tf_in(x, 1) : NULL;
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t open = 0;
	size_t n = 0;
	const int64_t *known = tf_ints(x->f->l, x->in[1], &n);

	if (shape == NULL)
		return NULL;
	if (known != NULL && n <= MODSER_GRAPH_MAX_NDIM) {
		for (size_t i = 0; i < n; i++) {
			dims[i] = known[i] == TF_UNKNOWN ? -1 : known[i];
			open += dims[i] == -1;
		}
		if (open <= 1)
			return tf_reshape(x, t, dims, n);
	}
	modser_sg_tensor *const in[] = {t, tf_cast(x, shape, "int64")};
	modser_sg_tensor *made = msd_build_node(&x->b, "Reshape", in, 2);
	made = msd_build_int(msd_build_int(made, "is_onnx", 1), "allowzero", 1);
	made = tf_done(made);
	if (made == NULL || made->ndim >= 0)
		return made;
	if ((known == NULL || n > MODSER_GRAPH_MAX_NDIM) && !open_dims(shape, dims, &n))
		return made;
	return modser_sg_tensor_set_dims(made, dims, n) == 0 ? made : NULL;
}

static modser_sg_tensor *load_squeeze(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	int64_t axes[MODSER_GRAPH_MAX_NDIM];
	const size_t n = tf_list(x, "squeeze_dims", axes, MODSER_GRAPH_MAX_NDIM);

	return tf_with_axes(x, "Squeeze", t, axes, n);
}

static modser_sg_tensor *load_expand_dims(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	int64_t axis;

	return t != NULL && tf_known_one(x, 1, &axis)
		       ? tf_with_axes(x, "Unsqueeze", t, &axis, 1)
		       : NULL;
}

static modser_sg_tensor *load_transpose(struct tf_layer *x)
{
	static const int64_t to_planes[] = {0, 3, 1, 2};
	modser_sg_tensor *t = tf_in(x, 0);
	int64_t perm[MODSER_GRAPH_MAX_NDIM];
	size_t n;

	if (t == NULL || !tf_known(x, 1, perm, MODSER_GRAPH_MAX_NDIM, &n))
		return NULL;
	if (n == 4 && memcmp(perm, to_planes, sizeof(to_planes)) == 0 &&
	    tf_planes_of(t) != NULL)
		return tf_planes_of(t);
	return n == 0 ? t : tf_transpose(x, t, perm, n);
}

/* Channels of planes that all inputs have, or the values along any axis. */
static modser_sg_tensor *load_concat(struct tf_layer *x)
{
	const size_t first = x->row->type == 1 ? 1 : 0;
	const size_t n = x->n_in - 1;
	modser_sg_tensor **parts = calloc(n + 1, sizeof(modser_sg_tensor *));
	modser_sg_tensor *t = NULL;
	int64_t axis;
	bool is_planes = n > 0;

	if (parts == NULL)
		(void)msd_sg_no_memory(x->f->l->g);
	if (parts == NULL || !tf_known_one(x, first == 1 ? 0 : n, &axis))
		goto end;
	for (size_t i = 0; i < n; i++) {
		parts[i] = tf_in(x, first + i);
		if (parts[i] == NULL)
			goto end;
		is_planes = is_planes && tf_planes_of(parts[i]) != NULL;
	}
	is_planes = is_planes && (axis == 3 || axis == -1);
	for (size_t i = 0; is_planes && i < n; i++)
		parts[i] = tf_planes_of(parts[i]);
	t = tf_concat(x, parts, n, is_planes ? 1 : axis);
	t = is_planes ? tf_to_nhwc(x, t) : t;
end:
	free(parts);
	return t;
}

static modser_sg_tensor *load_pack(struct tf_layer *x)
{
	const int64_t axis = tf_int(x, "axis", 0);
	modser_sg_tensor **parts = calloc(x->n_in, sizeof(modser_sg_tensor *));
	modser_sg_tensor *t = NULL;
	size_t n = 0;

	if (parts == NULL) {
		(void)msd_sg_no_memory(x->f->l->g);
		return NULL;
	}
	do {
		parts[n] = tf_with_axes(x, "Unsqueeze", tf_in(x, n), &axis, 1);
	} while (parts[n] != NULL && ++n < x->n_in);
	if (n == x->n_in)
		t = tf_concat(x, parts, n, axis);
	free(parts);
	return t;
}

/* Set outputs: @n pieces of @t along @axis. */
static int split(struct tf_layer *x, modser_sg_tensor *t, int64_t axis, size_t n,
		 const int64_t *sizes)
{
	size_t at;

	if (t == NULL || n < 1 || !tf_axis(x, t, axis, &at) || !tf_outs(x, n))
		return -1;
	modser_sg_tensor *made = msd_build_node(&x->b, "Split", &t, 1);
	made = msd_build_int(msd_build_int(made, "axis", (int64_t)at), "is_onnx", 1);
	if (sizes != NULL)
		made = msd_build_list(made, "sizes", sizes, n);
	for (size_t k = 1; k < n; k++) {
		if (tf_out(x, k, msd_build_output(&x->b, made)) != 0)
			return -1;
	}
	made = tf_done(made);
	for (size_t k = 0; made != NULL && k < n; k++) {
		modser_sg_tensor *one = made->producer->outputs[k];

		if (!one->has_dtype &&
		    modser_sg_tensor_set_dtype(one, t->dtype_name) != 0)
			return -1;
	}
	return tf_out(x, 0, made);
}

static int load_split(struct tf_layer *x)
{
	const int64_t n = tf_int(x, "num_split", 0);
	int64_t axis;

	if (n < 1 || n > TF_MANY) {
		return tf_load_fail(x->f->l, MSD_BAD_ARTIFACT, "it has %lld parts",
				    (long long)n);
	}
	return tf_known_one(x, 0, &axis) ? split(x, tf_in(x, 1), axis, (size_t)n, NULL)
					 : -1;
}

/* One size may be -1: the rest. */
static int load_split_v(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	int64_t sizes[TF_MAX_INTS];
	int64_t axis;
	size_t n;
	size_t at;

	if (t == NULL || !tf_known(x, 1, sizes, TF_MAX_INTS, &n) ||
	    !tf_known_one(x, 2, &axis) || !tf_axis(x, t, axis, &at))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (sizes[i] != -1)
			continue;
		int64_t left = t->ndim >= 0 ? t->dims[at] : -1;
		if (left < 0) {
			return tf_fail(x,
				       "the size of part %zu is not known before a "
				       "call",
				       i) != NULL
				       ? 0
				       : -1;
		}
		for (size_t k = 0; k < n; k++)
			left -= k != i ? sizes[k] : 0;
		sizes[i] = left;
	}
	return split(x, t, axis, n, sizes);
}

static int load_unpack(struct tf_layer *x)
{
	const int64_t n = tf_int(x, "num", 0);
	const int64_t given = tf_int(x, "axis", 0);
	modser_sg_tensor *t = tf_in(x, 0);
	size_t at;

	if (t == NULL || !tf_axis(x, t, given, &at))
		return -1;
	if (n < 1 || n > TF_MANY) {
		return tf_load_fail(x->f->l, MSD_BAD_ARTIFACT, "it has %lld parts",
				    (long long)n);
	}
	size_t n_ints;
	const int64_t *ints = tf_ints(x->f->l, x->in[0], &n_ints);
	if (split(x, t, given, (size_t)n, NULL) != 0)
		return -1;
	const int64_t axis = (int64_t)at;
	for (size_t i = 0; i < (size_t)n; i++) {
		struct tf_cell *cell = &x->f->cells[x->at];

		if (tf_out(x, i,
			   tf_with_axes(x, "Squeeze", cell->out[i]->t, &axis, 1)) != 0)
			return -1;
		if (ints == NULL || n_ints != (size_t)n)
			continue;
		cell->out[i]->ints = tf_alloc(x->f->l, 1, sizeof(*ints));
		if (cell->out[i]->ints == NULL)
			return -1;
		cell->out[i]->ints[0] = ints[i];
		cell->out[i]->n_ints = 1;
	}
	return 0;
}

static modser_sg_tensor *gather(const struct tf_layer *x, modser_sg_tensor *t,
				modser_sg_tensor *indices, int64_t axis)
{
	modser_sg_tensor *const in[] = {t, indices};
	modser_sg_tensor *made = msd_build_node(&x->b, "Gather", in, 2);

	made = msd_build_int(msd_build_int(made, "axis", axis), "is_onnx", 1);
	made = tf_done(made);
	return made != NULL && !made->has_dtype && t != NULL &&
			       modser_sg_tensor_set_dtype(made, t->dtype_name) != 0
		       ? NULL
		       : made;
}

static modser_sg_tensor *load_gather(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	modser_sg_tensor *indices = t != NULL ? tf_in(x, 1) : NULL;
	const int64_t batch = tf_int(x, "batch_dims", 0);
	int64_t axis = 0;

	if (indices == NULL || (x->n_in > 2 && !tf_known_one(x, 2, &axis)))
		return NULL;
	if (batch == 0)
		return gather(x, t, indices, axis);
	/* The last axis of both, in each row of the batch: elements by their index. */
	if (t->ndim == indices->ndim && batch == t->ndim - 1 &&
	    (axis == batch || axis == -1)) {
		modser_sg_tensor *const in[] = {t, indices};

		return tf_done(msd_build_int(
			msd_build_node(&x->b, "GatherElements", in, 2), "axis", batch));
	}
	if (axis != batch) {
		return tf_fail(x, "batch_dims %d with axis %d cannot be read",
			       (int)batch, (int)axis);
	}
	const int64_t last = -1;
	indices = tf_with_axes(x, "Unsqueeze", tf_cast(x, indices, "int64"), &last, 1);
	modser_sg_tensor *const in[] = {t, indices};
	return tf_done(msd_build_int(msd_build_node(&x->b, "GatherND", in, 2),
				     "batch_dims", batch));
}

static modser_sg_tensor *load_gather_nd(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);

	return t != NULL ? tf_two(x, "GatherND", t, tf_cast(x, tf_in(x, 1), "int64"))
			 : NULL;
}

static modser_sg_tensor *load_scatter_nd(struct tf_layer *x)
{
	modser_sg_tensor *indices = tf_cast(x, tf_in(x, 0), "int64");
	modser_sg_tensor *updates = indices != NULL ? tf_in(x, 1) : NULL;
	modser_sg_tensor *shape = updates != NULL ? tf_in(x, 2) : NULL;

	if (shape == NULL)
		return NULL;
	modser_sg_tensor *const in[] = {tf_two(x, "Expand",
					       tf_number(x, 0, updates->dtype_name),
					       tf_cast(x, shape, "int64")),
					indices, updates};
	return tf_done(msd_build_text(msd_build_node(&x->b, "ScatterND", in, 3),
				      "reduction", "add"));
}

/* Pads of planes: those of the channels come second. */
static modser_sg_tensor *pad_known(const struct tf_layer *x, modser_sg_tensor *t,
				   const int64_t *edges, size_t n,
				   modser_sg_tensor *value, int64_t mode)
{
	static const size_t of_planes[] = {0, 3, 1, 2};
	modser_sg_tensor *planes = n == 4 ? tf_planes_of(t) : NULL;
	int64_t pads[2 * MODSER_GRAPH_MAX_NDIM];

	for (size_t i = 0; i < n; i++) {
		const size_t from = planes != NULL ? of_planes[i] : i;

		pads[i] = edges[2 * from];
		pads[n + i] = edges[2 * from + 1];
	}
	modser_sg_tensor *const in[] = {planes != NULL ? planes : t,
					msd_build_ints(&x->b, pads, 2 * n), value};
	modser_sg_tensor *made =
		msd_build_node(&x->b, "Pad", in, value != NULL ? 3 : 2);
	made = tf_done(msd_build_int(made, "mode", mode));
	return planes != NULL ? tf_to_nhwc(x, made) : made;
}

static modser_sg_tensor *load_pad(struct tf_layer *x)
{
	enum { CONSTANT = 0, REFLECT = 2 };
	modser_sg_tensor *t = tf_in(x, 0);
	modser_sg_tensor *value = NULL;
	int64_t edges[TF_MAX_INTS] = {0};
	const int64_t mode = x->row->type == 1 ? REFLECT : CONSTANT;
	size_t n = 0;
	const int64_t *known = tf_ints(x->f->l, x->in[1], &n);

	if (t == NULL || (x->n_in > 2 && (value = tf_in(x, 2)) == NULL))
		return NULL;
	bool is_known = known != NULL && n % 2 == 0;
	for (size_t i = 0; is_known && i < n; i++) {
		edges[i] = known[i];
		is_known = edges[i] != TF_UNKNOWN;
	}
	if (mode == REFLECT && tf_is(x, "mode", "SYMMETRIC")) {
		if (!is_known)
			return tf_fail(x, "mode SYMMETRIC needs constant pads");
		for (size_t i = 0; i < n / 2; i++) {
			t = msd_build_mirror(&x->b, t, (int64_t)i, edges[2 * i],
					     edges[2 * i + 1]);
		}
		return t;
	}
	if (is_known)
		return pad_known(x, t, edges, n / 2, value, mode);
	static const int64_t perm[] = {1, 0};
	static const int64_t flat[] = {-1};
	modser_sg_tensor *pads = tf_cast(x, tf_in(x, 1), "int64");
	pads = tf_reshape(x, tf_transpose(x, pads, perm, 2), flat, 1);
	modser_sg_tensor *const in[] = {t, pads, value};
	modser_sg_tensor *made =
		msd_build_node(&x->b, "Pad", in, value != NULL ? 3 : 2);
	return tf_done(msd_build_int(made, "mode", mode));
}

static modser_sg_tensor *load_reverse_sequence(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	modser_sg_tensor *const in[] = {t, t != NULL ? tf_cast(x, tf_in(x, 1), "int64")
						     : NULL};
	modser_sg_tensor *made = msd_build_node(&x->b, "ReverseSequence", in, 2);

	made = msd_build_int(made, "time_axis", tf_int(x, "seq_dim", 0));
	return tf_done(msd_build_int(made, "batch_axis", tf_int(x, "batch_dim", 0)));
}

const struct tf_row tf_rows_move[] = {
	{"Concat", 2, TF_MANY, .one = load_concat, .type = 1},
	{"ConcatV2", 2, TF_MANY, .one = load_concat},
	{"ExpandDims", 2, 2, .one = load_expand_dims},
	{"Gather", 2, 2, .one = load_gather},
	{"GatherNd", 2, 2, .one = load_gather_nd},
	{"GatherV2", 3, 3, .one = load_gather},
	{"MirrorPad", 2, 2, .one = load_pad, .type = 1},
	{"Pack", 1, TF_MANY, .one = load_pack},
	{"Pad", 2, 2, .one = load_pad},
	{"PadV2", 3, 3, .one = load_pad},
	{"Reshape", 2, 2, .one = load_reshape},
	{"ReverseSequence", 2, 2, .one = load_reverse_sequence},
	{"ScatterNd", 3, 3, .one = load_scatter_nd},
	{"Split", 2, 2, .run = load_split},
	{"SplitV", 3, 3, .run = load_split_v},
	{"Squeeze", 1, 1, .one = load_squeeze},
	{"Transpose", 2, 2, .one = load_transpose},
	{"Unpack", 1, 1, .run = load_unpack},
	{0},
};
