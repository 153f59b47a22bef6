/*
 * Nodes of the graph, with the shape as far as extents are known. A node that has
 * inputs of open extents is inferred with several extents in their place. An extent of
 * the output that is the same each time is known.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/serializer/tensorflow/layer.h"

#define MAX_IN 64u
#define MAX_OUT 64u
#define COPIED_BYTES 65536u

/* The shape of an output, as far as trials agree. */
struct guess {
	int ndim; /* -1: nothing yet */
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
};

/* Replace open extents of the inputs by @extent, or put them back. */
static void set_open(const modser_sg_node *node, uint32_t *masks, int64_t extent)
{
	for (size_t i = 0; i < node->n_inputs; i++) {
		modser_sg_tensor *t = node->inputs[i];

		for (int k = 0; t != NULL && k < t->ndim; k++) {
			if (extent > 0 && t->dims[k] < 0) {
				masks[i] |= UINT32_C(1) << k;
				t->dims[k] = extent;
			} else if (extent < 0 && (masks[i] >> k & 1) != 0) {
				t->dims[k] = -1;
			}
		}
		if (extent < 0)
			masks[i] = 0;
	}
}

static void merge(const modser_sg_tensor *t, struct guess *g)
{
	if (t == NULL || g->ndim == -2)
		return;
	if (g->ndim == -1) {
		g->ndim = t->ndim;
		memcpy(g->dims, t->dims, sizeof(g->dims));
	} else if (g->ndim != t->ndim) {
		g->ndim = -2; /* nothing is known */
	}
	for (int k = 0; k < g->ndim; k++)
		g->dims[k] = g->dims[k] == t->dims[k] ? t->dims[k] : -1;
}

static bool is_open(const modser_sg_node *node)
{
	bool ret = false;

	if (node->n_inputs > MAX_IN || node->n_outputs > MAX_OUT)
		return false;
	for (size_t i = 0; i < node->n_inputs; i++) {
		const modser_sg_tensor *t = node->inputs[i];

		if (t != NULL && t->ndim < 0)
			return false;
		for (int k = 0; t != NULL && k < t->ndim; k++)
			ret = ret || t->dims[k] < 0;
	}
	return ret;
}

/* Try one extent; false: it does not fit. */
static bool try_extent(modser_sg_node *node, int64_t extent, struct guess *guesses)
{
	uint32_t masks[MAX_IN] = {0};

	set_open(node, masks, extent);
	const int result = msd_sg_infer_node(node);
	set_open(node, masks, -1);
	for (size_t k = 0; k < node->n_outputs; k++) {
		modser_sg_tensor *t = node->outputs[k];

		if (result == 0)
			merge(t, &guesses[k]);
		if (t != NULL)
			t->ndim = -1;
	}
	if (result < 0)
		msd_diag_finish(&node->graph->diag);
	return result == 0;
}

void tf_infer_open(modser_sg_tensor *t)
{
	/* Many divisors, small and large: windows fit, and reshapes come out even. */
	static const int64_t extents[] = {96, 48, 8};
	modser_sg_node *node = t != NULL ? t->producer : NULL;
	struct guess guesses[MAX_OUT] = {0};
	unsigned n = 0;

	if (node == NULL || node->op == NULL || t->ndim >= 0 || !is_open(node))
		return;
	for (size_t k = 0; k < node->n_outputs; k++)
		guesses[k].ndim = -1;
	for (size_t i = 0; i < sizeof(extents) / sizeof(extents[0]); i++)
		n += try_extent(node, extents[i], guesses);
	if (n < 2) { /* it is broadcast against an extent, or is that of the other */
		for (size_t k = 0; k < node->n_outputs; k++)
			guesses[k].ndim = -1;
		(void)try_extent(node, 1, guesses);
		(void)try_extent(node, 2, guesses);
	}
	for (size_t k = 0; k < node->n_outputs; k++) {
		modser_sg_tensor *out = node->outputs[k];

		if (out == NULL || guesses[k].ndim < 0)
			continue;
		out->ndim = guesses[k].ndim;
		memcpy(out->dims, guesses[k].dims, sizeof(out->dims));
	}
}

modser_sg_tensor *tf_done(modser_sg_tensor *t)
{
	t = msd_build_done(t);
	tf_infer_open(t);
	return t;
}

modser_sg_tensor *tf_one(const struct tf_layer *x, const char *op, modser_sg_tensor *t)
{
	return tf_done(msd_build_node(&x->b, op, &t, 1));
}

modser_sg_tensor *tf_two(const struct tf_layer *x, const char *op, modser_sg_tensor *a,
			 modser_sg_tensor *b)
{
	modser_sg_tensor *const in[] = {a, b};

	return tf_done(msd_build_node(&x->b, op, in, 2));
}

/* A short list of constants as int64; NULL without an error: it is none. */
static modser_sg_tensor *cast_const(const struct tf_layer *x, const modser_sg_tensor *t,
				    const char *dtype)
{
	const size_t n = (size_t)t->bytes / 4;
	int64_t wide[TF_MAX_INTS];

	if (!tf_is_const(t) || t->data == NULL || n > TF_MAX_INTS || t->ndim != 1 ||
	    strcmp(t->dtype_name, "int32") != 0 || strcmp(dtype, "int64") != 0)
		return NULL;
	for (size_t i = 0; i < n; i++)
		wide[i] = (int32_t)msd_le32((const uint8_t *)t->data + 4 * i);
	return msd_build_ints(&x->b, wide, n);
}

modser_sg_tensor *tf_cast(const struct tf_layer *x, modser_sg_tensor *t,
			  const char *dtype)
{
	if (t == NULL || dtype == NULL ||
	    (t->has_dtype && strcmp(t->dtype_name, dtype) == 0))
		return dtype != NULL ? t : NULL;
	modser_sg_tensor *made = cast_const(x, t, dtype);
	if (made != NULL)
		return made;
	made = msd_build_node(&x->b, "Cast", &t, 1);

	made = tf_done(msd_build_text(made, "to", dtype));
	/* Its inference may have to wait for a call. */
	return made != NULL && modser_sg_tensor_set_dtype(made, dtype) == 0 ? made
									    : NULL;
}

/* @made, which has the elements of @from in their order: a constant if @from is one. */
static modser_sg_tensor *keep_const(const struct tf_layer *x, modser_sg_tensor *from,
				    modser_sg_tensor *made)
{
	uint8_t *own = NULL;

	if (made == NULL || made->ndim < 0 || !tf_is_const(from) ||
	    from->data == NULL || from->bytes == 0 ||
	    (from->release != NULL && from->bytes > COPIED_BYTES))
		return made;
	if (from->release != NULL) {
		own = malloc((size_t)from->bytes);
		if (own == NULL) {
			(void)msd_sg_no_memory(x->b.g);
			return NULL;
		}
		memcpy(own, from->data, (size_t)from->bytes);
	}
	modser_sg_tensor *t = msd_build_constant(
		&x->b, from->dtype_name, made->dims, (size_t)made->ndim,
		own != NULL ? own : from->data, own != NULL ? free : NULL);
	if (t == NULL)
		free(own);
	if (t != NULL && own == NULL && from->has_location &&
	    modser_sg_tensor_set_location(t, from->offset, from->bytes) != 0)
		return NULL;
	return t;
}

modser_sg_tensor *tf_reshape(const struct tf_layer *x, modser_sg_tensor *t,
			     const int64_t *dims, size_t n)
{
	modser_sg_tensor *const in[] = {t, msd_build_ints(&x->b, dims, n)};
	modser_sg_tensor *made = msd_build_node(&x->b, "Reshape", in, 2);

	made = msd_build_int(msd_build_int(made, "is_onnx", 1), "allowzero", 1);
	made = tf_done(made);
	if (made != NULL && made->ndim < 0)
		return modser_sg_tensor_set_dims(made, dims, n) == 0 ? made : NULL;
	return keep_const(x, t, made);
}

modser_sg_tensor *tf_transpose(const struct tf_layer *x, modser_sg_tensor *t,
			       const int64_t *perm, size_t n)
{
	return tf_done(msd_build_list(msd_build_node(&x->b, "Transpose", &t, 1), "perm",
				      perm, n));
}

modser_sg_tensor *tf_with_axes(const struct tf_layer *x, const char *op,
			       modser_sg_tensor *t, const int64_t *axes, size_t n)
{
	if (t == NULL || (n == 0 && strcmp(op, "Squeeze") != 0))
		return t;
	modser_sg_tensor *made = msd_build_node(&x->b, op, &t, 1);
	if (n > 0)
		made = msd_build_list(made, "axes", axes, n);
	return keep_const(x, t, tf_done(made));
}

modser_sg_tensor *tf_concat(const struct tf_layer *x, modser_sg_tensor *const *parts,
			    size_t n, int64_t axis)
{
	return tf_done(
		msd_build_int(msd_build_node(&x->b, "Concat", parts, n), "axis", axis));
}

modser_sg_tensor *tf_number(const struct tf_layer *x, float v, const char *dtype)
{
	return tf_cast(x, msd_build_number(&x->b, v), dtype);
}

modser_sg_tensor *tf_clip(const struct tf_layer *x, modser_sg_tensor *t, float min,
			  float max)
{
	if (t == NULL)
		return NULL;
	modser_sg_tensor *const in[] = {t, tf_number(x, min, t->dtype_name),
					tf_number(x, max, t->dtype_name)};

	return tf_done(msd_build_node(&x->b, "Clip", in, 3));
}

modser_sg_tensor *tf_slice(const struct tf_layer *x, modser_sg_tensor *t,
			   const int64_t *begin, const int64_t *end,
			   const int64_t *axes, const int64_t *steps, size_t n)
{
	if (n == 0)
		return t;
	modser_sg_tensor *const in[] = {
		t, msd_build_ints(&x->b, begin, n), msd_build_ints(&x->b, end, n),
		msd_build_ints(&x->b, axes, n), msd_build_ints(&x->b, steps, n)};
	return tf_done(
		msd_build_int(msd_build_node(&x->b, "Slice", in, 5), "isonnx", 1));
}

static const int64_t to_planes[] = {0, 3, 1, 2};
static const int64_t from_planes[] = {0, 2, 3, 1};

bool tf_is_nhwc(const struct tf_layer *x)
{
	return !tf_is(x, "data_format", "NCHW") && !tf_is(x, "data_format", "NCW");
}

modser_sg_tensor *tf_planes_of(const modser_sg_tensor *t)
{
	const modser_sg_node *node = t->producer;

	if (node == NULL || node->op == NULL ||
	    strcmp(modser_sg_op_name(node->op), "Transpose") != 0)
		return NULL;
	const modser_sg_attr *perm = modser_sg_op_param(node->op, "perm");
	return perm->n == 4 && memcmp(perm->as.ints, from_planes,
				      sizeof(from_planes)) == 0
		       ? node->inputs[0]
		       : NULL;
}

modser_sg_tensor *tf_to_planes(const struct tf_layer *x, modser_sg_tensor *t)
{
	modser_sg_tensor *planes = t != NULL ? tf_planes_of(t) : NULL;

	if (t == NULL || planes != NULL)
		return planes;
	if (t->ndim >= 0 && t->ndim != 4)
		return tf_fail(x, "its input has %d dimensions, expected 4", t->ndim);
	return tf_transpose(x, t, to_planes, 4);
}

modser_sg_tensor *tf_planes(const struct tf_layer *x, size_t i)
{
	modser_sg_tensor *t = tf_in(x, i);
	struct tf_value *v = x->in[i];

	if (t == NULL || !tf_is_nhwc(x))
		return t;
	if (v->planes == NULL)
		v->planes = tf_to_planes(x, t);
	return v->planes;
}

modser_sg_tensor *tf_to_nhwc(const struct tf_layer *x, modser_sg_tensor *planes)
{
	return tf_transpose(x, planes, from_planes, 4);
}

modser_sg_tensor *tf_unplane(const struct tf_layer *x, modser_sg_tensor *planes)
{
	return tf_is_nhwc(x) ? tf_to_nhwc(x, planes) : planes;
}

/* Copy 4-byte elements in the order of the turned axes. */
static void permute(const modser_sg_tensor *t, const int64_t *perm, size_t n,
		    uint8_t *to)
{
	int64_t stride[4] = {0};
	int64_t step[4] = {0};
	int64_t dims[4] = {1, 1, 1, 1};
	int64_t all = 1;
	const uint8_t *from = t->data;

	for (size_t i = n; i-- > 0; all *= t->dims[i])
		stride[i] = all;
	for (size_t i = 0; i < n; i++) {
		step[4 - n + i] = stride[perm[i]];
		dims[4 - n + i] = t->dims[perm[i]];
	}
	for (int64_t a = 0; a < dims[0]; a++) {
		for (int64_t b = 0; b < dims[1]; b++) {
			for (int64_t c = 0; c < dims[2]; c++) {
				const uint8_t *row =
					from +
					4 * (a * step[0] + b * step[1] + c * step[2]);

				for (int64_t d = 0; d < dims[3]; d++, to += 4)
					memcpy(to, row + 4 * d * step[3], 4);
			}
		}
	}
}

modser_sg_tensor *tf_turned(const struct tf_layer *x, modser_sg_tensor *t,
			    const int64_t *perm, size_t n)
{
	int64_t dims[4];

	if (t == NULL)
		return NULL;
	if (t->ndim >= 0 && (size_t)t->ndim != n) {
		return tf_fail(x, "its weights have %d dimensions, expected %zu",
			       t->ndim, n);
	}
	if (!tf_is_const(t) || t->dtype.bits != 32 || t->bytes == 0 || n > 4)
		return tf_transpose(x, t, perm, n);
	uint8_t *own = malloc((size_t)t->bytes);
	if (own == NULL) {
		(void)msd_sg_no_memory(x->f->l->g);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		dims[i] = t->dims[perm[i]];
	permute(t, perm, n, own);
	modser_sg_tensor *made =
		msd_build_constant(&x->b, t->dtype_name, dims, n, own, free);
	if (made == NULL)
		free(own);
	return made;
}
