/* Operators that write at indices, add rows by their segments, move elements around,
 * or read and make diagonals. */
#include <stdlib.h>

#include "graph/ir/graph.h"
#include "graph/serializer/build/compose.h"
#include "graph/serializer/tensorflow/layer.h"

static modser_sg_tensor *scatter(const struct tf_layer *x, modser_sg_tensor *t,
				 modser_sg_tensor *at, modser_sg_tensor *updates,
				 const char *reduction)
{
	modser_sg_tensor *const in[] = {t, at, updates};
	modser_sg_tensor *made = tf_done(msd_build_text(
		msd_build_node(&x->b, "ScatterND", in, 3), "reduction", reduction));

	return made != NULL && modser_sg_tensor_set_dtype(made, t->dtype_name) == 0
		       ? made
		       : NULL;
}

static modser_sg_tensor *load_update(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	modser_sg_tensor *at = t != NULL ? tf_cast(x, tf_in(x, 1), "int64") : NULL;

	return at != NULL ? scatter(x, t, at, tf_in(x, 2), x->row->op) : NULL;
}

static modser_sg_tensor *load_segments(struct tf_layer *x)
{
	modser_sg_tensor *data = tf_in(x, 0);
	modser_sg_tensor *ids = data != NULL ? tf_in(x, 1) : NULL;
	modser_sg_tensor *count = NULL;

	if (ids == NULL || (x->n_in > 2 && (count = tf_in(x, 2)) == NULL))
		return NULL;
	if (ids->ndim != 1)
		return tf_fail(x, "its segments are no vector");
	return msd_build_segments(&x->b, data, ids, count);
}

/* Move the elements of @axis by @by places, around its end. */
static modser_sg_tensor *roll(struct tf_layer *x, modser_sg_tensor *t, int64_t axis,
			      int64_t by)
{
	size_t at;

	if (t == NULL || !tf_axis(x, t, axis, &at))
		return NULL;
	if (t->ndim >= 0 && t->dims[at] > 0)
		by %= t->dims[at];
	if (by == 0 || (t->ndim >= 0 && t->dims[at] == 0))
		return t;
	modser_sg_tensor *const parts[] = {
		msd_build_range(&x->b, t, (int64_t)at, -by, INT32_MAX),
		msd_build_range(&x->b, t, (int64_t)at, 0, -by)};
	return tf_concat(x, parts, 2, (int64_t)at);
}

static modser_sg_tensor *load_roll(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	int64_t by[MODSER_GRAPH_MAX_NDIM];
	int64_t axes[MODSER_GRAPH_MAX_NDIM];
	size_t n[2];

	if (t == NULL || !tf_known(x, 1, by, MODSER_GRAPH_MAX_NDIM, &n[0]) ||
	    !tf_known(x, 2, axes, MODSER_GRAPH_MAX_NDIM, &n[1]))
		return NULL;
	if (n[0] != n[1])
		return tf_fail(x, "%zu shifts of %zu axes", n[0], n[1]);
	for (size_t i = 0; i < n[0]; i++)
		t = roll(x, t, axes[i], by[i]);
	return t;
}

static modser_sg_tensor *triangle(const struct tf_layer *x, modser_sg_tensor *t,
				  int64_t is_upper, int64_t k)
{
	modser_sg_tensor *const in[] = {
		t, tf_reshape(x, msd_build_ints(&x->b, &k, 1), NULL, 0)};

	return tf_done(msd_build_int(msd_build_node(&x->b, "Trilu", in, 2), "upper",
				     is_upper));
}

/* Diagonals below and above that stay; all, if negative. */
static modser_sg_tensor *load_band(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	int64_t lower;
	int64_t upper;

	if (t == NULL || !tf_known_one(x, 1, &lower) || !tf_known_one(x, 2, &upper))
		return NULL;
	if (lower >= 0)
		t = triangle(x, t, 1, -lower);
	return upper >= 0 && t != NULL ? triangle(x, t, 0, upper) : t;
}

/* Versions 2 and 3 name a diagonal; only the main one can be read. */
static bool is_main(const struct tf_layer *x, size_t i)
{
	int64_t k[2];
	size_t n;

	if (x->n_in <= i)
		return true;
	if (!tf_known(x, i, k, 2, &n))
		return false;
	for (size_t j = 0; j < n; j++) {
		if (k[j] != 0) {
			(void)tf_fail(x, "diagonal %lld; only the main one can be read",
				      (long long)k[j]);
			return false;
		}
	}
	return true;
}

/* A matrix of @n rows that is true on its diagonal. */
static modser_sg_tensor *unit(struct tf_layer *x, int64_t n)
{
	const int64_t dims[] = {n, n};

	if (n < 1 || n > 4096)
		return tf_fail(x, "the extents of its matrices are not known");
	uint8_t *is = calloc((size_t)(n * n), 1);
	for (int64_t i = 0; is != NULL && i < n; i++)
		is[i * n + i] = 1;
	modser_sg_tensor *t = NULL;
	if (is == NULL) {
		(void)msd_sg_no_memory(x->f->l->g);
	} else {
		t = msd_build_constant(&x->b, "bool", dims, 2, is, free);
	}
	if (t == NULL)
		free(is);
	return t;
}

/* Square matrices with the last axis of input 0 on their diagonals. */
static modser_sg_tensor *load_diagonal(struct tf_layer *x)
{
	const int64_t last = -1;
	modser_sg_tensor *t = tf_in(x, 0);

	if (t == NULL || !is_main(x, 1))
		return NULL;
	for (size_t i = 2; i < 4 && i < x->n_in; i++) {
		int64_t n;

		if (!tf_known_one(x, i, &n))
			return NULL;
		if (n != -1 && (t->ndim < 1 || n != t->dims[t->ndim - 1]))
			return tf_fail(x, "its matrices are not square");
	}
	modser_sg_tensor *is = unit(x, t->ndim > 0 ? t->dims[t->ndim - 1] : -1);
	if (is == NULL)
		return NULL;
	modser_sg_tensor *rest =
		x->n_in > 4 ? tf_in(x, 4) : tf_number(x, 0, t->dtype_name);
	t = tf_with_axes(x, "Unsqueeze", t, &last, 1);
	return msd_build_choose(&x->b, is, t, rest);
}

/* The diagonals of the last two axes. */
static modser_sg_tensor *load_diagonal_part(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);

	if (t == NULL || !is_main(x, 1))
		return NULL;
	if (t->ndim < 2 || t->dims[t->ndim - 1] != t->dims[t->ndim - 2])
		return tf_fail(x, "its matrices are not square");
	modser_sg_tensor *is = unit(x, t->dims[t->ndim - 1]);
	if (is == NULL)
		return NULL;
	const int64_t axes[] = {t->ndim - 2};
	t = msd_build_choose(&x->b, is, t, tf_number(x, 0, t->dtype_name));
	t = msd_build_node(&x->b, "Reduction", &t, 1); /* a sum */
	t = msd_build_list(msd_build_int(t, "keepdim", 0), "axes", axes, 1);
	return tf_done(t);
}

/* Input 0 with input 1 on the diagonals. */
static modser_sg_tensor *load_set_diagonal(struct tf_layer *x)
{
	const int64_t last = -1;
	modser_sg_tensor *t = tf_in(x, 0);
	modser_sg_tensor *on = t != NULL ? tf_in(x, 1) : NULL;

	if (on == NULL || !is_main(x, 2))
		return NULL;
	if (t->ndim < 2 || t->dims[t->ndim - 1] != t->dims[t->ndim - 2])
		return tf_fail(x, "its matrices are not square");
	modser_sg_tensor *is = unit(x, t->dims[t->ndim - 1]);
	return is != NULL
		       ? msd_build_choose(&x->b, is,
					  tf_with_axes(x, "Unsqueeze", on, &last, 1), t)
		       : NULL;
}

const struct tf_row tf_rows_scatter[] = {
	{"MatrixBandPart", 3, 3, .one = load_band},
	{"MatrixDiag", 1, 1, .one = load_diagonal},
	{"MatrixDiagPart", 1, 1, .one = load_diagonal_part},
	{"MatrixDiagPartV2", 3, 3, .one = load_diagonal_part},
	{"MatrixDiagPartV3", 3, 3, .one = load_diagonal_part},
	{"MatrixDiagV2", 5, 5, .one = load_diagonal},
	{"MatrixDiagV3", 5, 5, .one = load_diagonal},
	{"MatrixSetDiag", 2, 2, .one = load_set_diagonal},
	{"MatrixSetDiagV2", 3, 3, .one = load_set_diagonal},
	{"MatrixSetDiagV3", 3, 3, .one = load_set_diagonal},
	{"Roll", 3, 3, .one = load_roll},
	{"SegmentSum", 2, 2, .one = load_segments},
	{"TensorScatterAdd", 3, 3, .one = load_update, .op = "add"},
	{"TensorScatterMax", 3, 3, .one = load_update, .op = "max"},
	{"TensorScatterMin", 3, 3, .one = load_update, .op = "min"},
	{"TensorScatterUpdate", 3, 3, .one = load_update, .op = "none"},
	{"UnsortedSegmentSum", 3, 3, .one = load_segments},
	{0},
};
