/*
 * Fold numbers that are known while a model is read: extents, and what follows of them.
 * An extent that only a call brings, and all that follows from it, is TF_UNKNOWN. A
 * node of known numbers becomes a constant; other numbers go to its row's value.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tensorflow/layer.h"
#include "graph/serializer/tensorflow/numbers.h"
#include "graph/serializer/tensorflow/stride.h"

/* An operator's numbers, from those of its inputs; false: they do not follow. */
typedef bool folder(struct tf_layer *x, const struct tf_numbers *in,
		    struct tf_numbers *ret);

static bool fold_shape(struct tf_layer *x, const struct tf_numbers *in,
		       struct tf_numbers *ret)
{
	const modser_sg_tensor *t = x->in[0]->t;

	(void)in;
	if (x->in[0]->kind != TF_TENSOR || t->ndim < 0)
		return false;
	ret->is_vector = true;
	ret->n = (size_t)t->ndim;
	for (size_t i = 0; i < ret->n; i++)
		ret->v[i] = t->dims[i] >= 0 ? t->dims[i] : TF_UNKNOWN;
	return true;
}

static bool fold_rank(struct tf_layer *x, const struct tf_numbers *in,
		      struct tf_numbers *ret)
{
	(void)in;
	ret->n = 1;
	ret->v[0] = x->in[0]->kind == TF_TENSOR ? x->in[0]->t->ndim : -1;
	return ret->v[0] >= 0;
}

static bool fold_size(struct tf_layer *x, const struct tf_numbers *in,
		      struct tf_numbers *ret)
{
	if (!fold_shape(x, in, ret))
		return false;
	int64_t all = 1;
	for (size_t i = 0; i < ret->n; i++) {
		if (ret->v[i] == TF_UNKNOWN ||
		    __builtin_mul_overflow(all, ret->v[i], &all))
			return false;
	}
	*ret = (struct tf_numbers){.n = 1, .v = {all}};
	return true;
}

/* Cast and moves that keep the order. */
static bool fold_same(struct tf_layer *x, const struct tf_numbers *in,
		      struct tf_numbers *ret)
{
	(void)x;
	*ret = in[0];
	return true;
}

static bool fold_scalar(struct tf_layer *x, const struct tf_numbers *in,
			struct tf_numbers *ret)
{
	*ret = in[0];
	ret->is_vector = false;
	return in[0].n == 1 && (x->n_in < 2 || in[1].n == 0 || in[1].is_vector);
}

static bool fold_vector(struct tf_layer *x, const struct tf_numbers *in,
			struct tf_numbers *ret)
{
	(void)x;
	*ret = in[0];
	ret->is_vector = true;
	return !in[0].is_vector;
}

static bool fold_reshape(struct tf_layer *x, const struct tf_numbers *in,
			 struct tf_numbers *ret)
{
	(void)x;
	*ret = in[0];
	ret->is_vector = in[1].n == 1;
	return in[1].is_vector && (in[1].n == 1 || (in[1].n == 0 && in[0].n == 1));
}

static bool join(const struct tf_numbers *parts, size_t n, struct tf_numbers *ret)
{
	ret->is_vector = true;
	for (size_t i = 0; i < n; i++) {
		if (parts[i].n > TF_MAX_INTS - ret->n)
			return false;
		memcpy(ret->v + ret->n, parts[i].v, parts[i].n * sizeof(ret->v[0]));
		ret->n += parts[i].n;
	}
	return true;
}

static bool fold_pack(struct tf_layer *x, const struct tf_numbers *in,
		      struct tf_numbers *ret)
{
	for (size_t i = 0; i < x->n_in; i++) {
		if (in[i].is_vector)
			return false;
	}
	return join(in, x->n_in, ret);
}

/* The axis is the last input of ConcatV2, and the first of Concat. */
static bool fold_concat(struct tf_layer *x, const struct tf_numbers *in,
			struct tf_numbers *ret)
{
	const size_t first = x->row->type == 1 ? 1 : 0;

	for (size_t i = 0; i + 1 < x->n_in; i++) {
		if (!in[first + i].is_vector)
			return false;
	}
	return join(in + first, x->n_in - 1, ret);
}

static bool fold_strided_slice(struct tf_layer *x, const struct tf_numbers *in,
			       struct tf_numbers *ret)
{
	struct tf_stride s;

	if (!in[0].is_vector || in[1].n != 1 || in[2].n != 1 || in[3].n != 1 ||
	    tf_bool(x, "offset", false) || tf_int(x, "ellipsis_mask", 0) != 0 ||
	    tf_int(x, "new_axis_mask", 0) != 0)
		return false;
	for (size_t i = 1; i < 4; i++) {
		if (in[i].v[0] == TF_UNKNOWN)
			return false;
	}
	if (in[3].v[0] == 0)
		return false;
	s = tf_stride_of(x, 0, in[1].v[0], in[2].v[0], in[3].v[0]);
	tf_numbers_slice(&in[0], &s, ret);
	ret->is_vector = !s.is_one;
	return ret->is_vector || ret->n == 1;
}

static bool fold_slice(struct tf_layer *x, const struct tf_numbers *in,
		       struct tf_numbers *ret)
{
	const int64_t begin = in[1].v[0];
	const int64_t size = in[2].v[0];

	(void)x;
	if (!in[0].is_vector || in[1].n != 1 || in[2].n != 1 || begin < 0 ||
	    begin > (int64_t)in[0].n || size < -1)
		return false;
	const int64_t left = (int64_t)in[0].n - begin;
	ret->n = (size_t)(size == -1 || size > left ? left : size);
	memcpy(ret->v, in[0].v + begin, ret->n * sizeof(ret->v[0]));
	ret->is_vector = true;
	return true;
}

static bool fold_gather(struct tf_layer *x, const struct tf_numbers *in,
			struct tf_numbers *ret)
{
	(void)x;
	if (!in[0].is_vector)
		return false;
	for (size_t i = 0; i < in[1].n; i++) {
		if (in[1].v[i] < 0 || in[1].v[i] >= (int64_t)in[0].n)
			return false;
		ret->v[i] = in[0].v[in[1].v[i]];
	}
	ret->n = in[1].n;
	ret->is_vector = in[1].is_vector;
	return true;
}

static bool fold_range(struct tf_layer *x, const struct tf_numbers *in,
		       struct tf_numbers *ret)
{
	const int64_t begin = in[0].v[0];
	const int64_t end = in[1].v[0];
	const int64_t step = in[2].v[0];

	(void)x;
	for (size_t i = 0; i < 3; i++) {
		if (in[i].n != 1 || in[i].v[0] == TF_UNKNOWN ||
		    in[i].v[0] > INT32_MAX || in[i].v[0] < -INT32_MAX)
			return false;
	}
	if (step == 0)
		return false;
	ret->is_vector = true;
	for (int64_t v = begin; step > 0 ? v < end : v > end; v += step) {
		if (ret->n == TF_MAX_INTS)
			return false;
		ret->v[ret->n++] = v;
	}
	return true;
}

static bool fold_fill(struct tf_layer *x, const struct tf_numbers *in,
		      struct tf_numbers *ret)
{
	const int64_t n = in[0].v[0];

	(void)x;
	if (!in[0].is_vector || in[0].n != 1 || n < 0 || n > (int64_t)TF_MAX_INTS ||
	    in[1].n != 1)
		return false;
	ret->is_vector = true;
	ret->n = (size_t)n;
	for (size_t i = 0; i < ret->n; i++)
		ret->v[i] = in[1].v[0];
	return true;
}

static bool fold_select(struct tf_layer *x, const struct tf_numbers *in,
			struct tf_numbers *ret)
{
	(void)x;
	if (in[0].n != 1 || in[0].v[0] == TF_UNKNOWN ||
	    in[1].is_vector != in[2].is_vector || in[1].n != in[2].n)
		return false;
	*ret = in[in[0].v[0] != 0 ? 1 : 2];
	return true;
}

static bool fold_not(struct tf_layer *x, const struct tf_numbers *in,
		     struct tf_numbers *ret)
{
	(void)x;
	*ret = in[0];
	for (size_t i = 0; i < ret->n; i++) {
		if (ret->v[i] != TF_UNKNOWN)
			ret->v[i] = ret->v[i] == 0;
	}
	return true;
}

/* A reduction of all numbers to one. */
static bool fold_all(struct tf_layer *x, const struct tf_numbers *in,
		     enum tf_operation op, struct tf_numbers *ret)
{
	if (!in[0].is_vector || in[0].n == 0 || in[1].n != 1)
		return false;
	ret->n = 1;
	ret->is_vector = tf_bool(x, "keep_dims", false);
	return tf_numbers_reduce(op, &in[0], &ret->v[0]);
}

/* Rows with a function, or with an operation on two inputs or on all numbers. */
static const struct fold_row {
	const char *op;
	folder *fold;
	enum tf_operation operation;
	bool is_all;
	bool of_shapes; /* its inputs need no numbers */
} rows[] = {
	{"Shape", fold_shape, TF_ADD, false, true},
	{"Rank", fold_rank, TF_ADD, false, true},
	{"Size", fold_size, TF_ADD, false, true},
	{"Cast", fold_same, TF_ADD, false, false},
	{"Squeeze", fold_scalar, TF_ADD, false, false},
	{"ExpandDims", fold_vector, TF_ADD, false, false},
	{"Reshape", fold_reshape, TF_ADD, false, false},
	{"Pack", fold_pack, TF_ADD, false, false},
	{"ConcatV2", fold_concat, TF_ADD, false, false},
	{"Concat", fold_concat, TF_ADD, false, false},
	{"StridedSlice", fold_strided_slice, TF_ADD, false, false},
	{"Slice", fold_slice, TF_ADD, false, false},
	{"GatherV2", fold_gather, TF_ADD, false, false},
	{"Gather", fold_gather, TF_ADD, false, false},
	{"Range", fold_range, TF_ADD, false, false},
	{"Fill", fold_fill, TF_ADD, false, false},
	{"Select", fold_select, TF_ADD, false, false},
	{"SelectV2", fold_select, TF_ADD, false, false},
	{"LogicalNot", fold_not, TF_ADD, false, false},
	{"Add", NULL, TF_ADD, false, false},
	{"AddV2", NULL, TF_ADD, false, false},
	{"Sub", NULL, TF_SUB, false, false},
	{"Mul", NULL, TF_MUL, false, false},
	{"FloorDiv", NULL, TF_FLOOR_DIV, false, false},
	{"FloorMod", NULL, TF_FLOOR_MOD, false, false},
	{"Maximum", NULL, TF_MAX, false, false},
	{"Minimum", NULL, TF_MIN, false, false},
	{"Less", NULL, TF_LESS, false, false},
	{"LessEqual", NULL, TF_LESS_EQUAL, false, false},
	{"Greater", NULL, TF_GREATER, false, false},
	{"GreaterEqual", NULL, TF_GREATER_EQUAL, false, false},
	{"Equal", NULL, TF_EQUAL, false, false},
	{"NotEqual", NULL, TF_NOT_EQUAL, false, false},
	{"LogicalAnd", NULL, TF_AND, false, false},
	{"LogicalOr", NULL, TF_OR, false, false},
	{"Prod", NULL, TF_MUL, true, false},
	{"Sum", NULL, TF_ADD, true, false},
	{"Max", NULL, TF_MAX, true, false},
	{"Min", NULL, TF_MIN, true, false},
};

static const struct fold_row *find_row(const char *op)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].op, op) == 0)
			return &rows[i];
	}
	return NULL;
}

static bool take(struct tf_layer *x, size_t i, struct tf_numbers *ret)
{
	size_t n;
	const int64_t *ints = tf_ints(x->f->l, x->in[i], &n);

	*ret = (struct tf_numbers){0};
	if (ints == NULL || n > TF_MAX_INTS || x->in[i]->t->ndim < 0 ||
	    x->in[i]->t->ndim > 1)
		return false;
	ret->n = n;
	ret->is_vector = x->in[i]->t->ndim == 1;
	memcpy(ret->v, ints, n * sizeof(*ints));
	return true;
}

static bool fold(struct tf_layer *x, const struct fold_row *row, struct tf_numbers *in,
		 struct tf_numbers *ret)
{
	for (size_t i = 0; i < x->n_in && !row->of_shapes; i++) {
		if (!take(x, i, &in[i]))
			return false;
	}
	if (row->fold != NULL)
		return row->fold(x, in, ret);
	return row->is_all ? fold_all(x, in, row->operation, ret)
			   : tf_numbers_combine(row->operation, &in[0], &in[1], ret);
}

/* The type of the output; NULL: it has no integers. */
static const char *type_of(const struct tf_layer *x, const struct fold_row *row)
{
	static const char *const names[] = {"DstT",    "out_type", "dtype", "T",
					    "Tparams", "Tidx",     NULL};
	const Tensorflow__AttrValue *a = NULL;

	if (row->operation >= TF_LESS || row->fold == fold_not)
		return "bool";
	if (row->fold == fold_rank)
		return "int32";
	if (row->fold == fold_range && tf_attr(x, "Tidx") == NULL)
		return "int32"; /* SavedModels leave defaults out */
	if (row->of_shapes) {
		a = tf_attr(x, "out_type");
		return a != NULL && a->has_type ? tf_dtype(a->type) : "int32";
	}
	for (size_t i = 0; names[i] != NULL && (a == NULL || !a->has_type); i++)
		a = tf_attr(x, names[i]);
	const char *dtype = a != NULL && a->has_type ? tf_dtype(a->type) : NULL;
	return dtype != NULL && (strcmp(dtype, "int32") == 0 ||
				 strcmp(dtype, "int64") == 0 ||
				 strcmp(dtype, "bool") == 0)
		       ? dtype
		       : NULL;
}

static bool run(struct tf_layer *x, struct tf_numbers *ret, const char **ret_dtype)
{
	const struct fold_row *row = find_row(x->node->op);
	struct tf_numbers *in = NULL;
	bool is_folded = false;

	*ret = (struct tf_numbers){0};
	if (row == NULL || x->n_in > TF_MAX_INTS || x->n_in == 0)
		return false;
	*ret_dtype = type_of(x, row);
	in = *ret_dtype != NULL ? calloc(x->n_in + 1, sizeof(*in)) : NULL;
	is_folded = in != NULL && fold(x, row, in, ret);
	free(in);
	return is_folded;
}

static modser_sg_tensor *make(struct tf_layer *x, const struct tf_numbers *n,
			      const char *dtype)
{
	const int64_t dims[] = {(int64_t)n->n};
	const size_t width = strcmp(dtype, "int64") == 0   ? 8
			     : strcmp(dtype, "int32") == 0 ? 4
							   : 1;
	uint8_t *own = malloc(n->n * width + 1);

	if (own == NULL) {
		(void)msd_sg_no_memory(x->f->l->g);
		return NULL;
	}
	for (size_t i = 0; i < n->n; i++) {
		for (size_t k = 0; k < width; k++)
			own[i * width + k] = (uint8_t)((uint64_t)n->v[i] >> (8 * k));
	}
	modser_sg_tensor *t =
		msd_build_constant(&x->b, dtype, dims, n->is_vector ? 1 : 0, own, free);
	if (t == NULL)
		free(own);
	return t;
}

static bool is_whole(const struct tf_numbers *n, const char *dtype)
{
	for (size_t i = 0; i < n->n; i++) {
		if (n->v[i] == TF_UNKNOWN ||
		    (strcmp(dtype, "int32") == 0 && n->v[i] != (int32_t)n->v[i]))
			return false;
	}
	return true;
}

int tf_fold(struct tf_layer *x)
{
	struct tf_numbers n;
	const char *dtype;

	if (!run(x, &n, &dtype) || !is_whole(&n, dtype))
		return 0;
	if (!tf_outs(x, 1))
		return -1;
	return tf_out(x, 0, make(x, &n, dtype)) == 0 ? 1 : -1;
}

/* A loop's counter, and a constant added. */
static void keep_counter(struct tf_layer *x, struct tf_value *v)
{
	if (x->n_in != 2 ||
	    (strcmp(x->node->op, "AddV2") != 0 && strcmp(x->node->op, "Add") != 0))
		return;
	for (size_t i = 0; i < 2; i++) {
		size_t n;
		const int64_t *ints = tf_ints(x->f->l, x->in[1 - i], &n);

		if (x->in[i]->counter == 0 || ints == NULL || n != 1 ||
		    ints[0] == TF_UNKNOWN)
			continue;
		if (!__builtin_add_overflow(x->in[i]->plus, ints[0], &v->plus))
			v->counter = x->in[i]->counter;
	}
}

int tf_keep_ints(struct tf_layer *x, struct tf_value *v)
{
	const Tensorflow__AttrValue *type = tf_attr(x, "T");
	struct tf_numbers n;
	const char *dtype;

	if (!v->t->has_dtype && type != NULL && type->has_type &&
	    tf_dtype(type->type) != NULL &&
	    modser_sg_tensor_set_dtype(v->t, tf_dtype(type->type)) != 0)
		return -1;
	keep_counter(x, v);
	if (v->t->type == MODSER_TENSOR_CONST || !run(x, &n, &dtype))
		return 0;
	v->ints = tf_alloc(x->f->l, n.n + 1, sizeof(*v->ints));
	if (v->ints == NULL)
		return -1;
	memcpy(v->ints, n.v, n.n * sizeof(n.v[0]));
	v->n_ints = n.n;
	const int64_t extent = (int64_t)n.n;

	return v->t->ndim >= 0 ? 0
			       : modser_sg_tensor_set_dims(v->t, &extent, n.is_vector);
}
