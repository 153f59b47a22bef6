/* Operators that make tensors of a shape, repeat elements, or return shapes and places.
 */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tensorflow/layer.h"

/* A node of @op with input @i, and input @k as a list of int64. */
static modser_sg_tensor *with_list(struct tf_layer *x, const char *op, size_t i,
				   size_t k)
{
	modser_sg_tensor *t = tf_in(x, i);
	modser_sg_tensor *list = t != NULL ? tf_cast(x, tf_in(x, k), "int64") : NULL;
	modser_sg_tensor *made = tf_two(x, op, t, list);
	size_t n = 0;
	const int64_t *known = tf_ints(x->f->l, x->in[k], &n);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];

	if (made == NULL || made->ndim >= 0 || known == NULL ||
	    n > MODSER_GRAPH_MAX_NDIM || strcmp(op, "Expand") != 0)
		return made;
	for (size_t a = 0; a < n; a++)
		dims[a] = known[a] == TF_UNKNOWN ? -1 : known[a];
	return modser_sg_tensor_set_dims(made, dims, n) == 0 &&
			       modser_sg_tensor_set_dtype(made, t->dtype_name) == 0
		       ? made
		       : NULL;
}

static modser_sg_tensor *load_tile(struct tf_layer *x)
{
	return with_list(x, "Tile", 0, 1);
}

static modser_sg_tensor *load_broadcast_to(struct tf_layer *x)
{
	return with_list(x, "Expand", 0, 1);
}

static modser_sg_tensor *load_fill(struct tf_layer *x)
{
	return with_list(x, "Expand", 1, 0);
}

static modser_sg_tensor *load_like(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);

	return t != NULL ? tf_two(x, "Expand",
				  tf_number(x, (float)x->row->type, t->dtype_name),
				  tf_one(x, "Shape", t))
			 : NULL;
}

static modser_sg_tensor *shape_of(struct tf_layer *x, modser_sg_tensor *t,
				  const char *op)
{
	const Tensorflow__AttrValue *type = tf_attr(x, "out_type");
	modser_sg_tensor *made = tf_one(x, op, t);

	if (made == NULL || modser_sg_tensor_set_dtype(made, "int64") != 0)
		return NULL;
	return tf_cast(x, made,
		       type != NULL && type->has_type ? tf_dtype(type->type) : "int32");
}

static modser_sg_tensor *load_shape(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);

	return t != NULL ? shape_of(x, t, x->row->op) : NULL;
}

static int load_shape_n(struct tf_layer *x)
{
	if (!tf_outs(x, x->n_in))
		return -1;
	for (size_t i = 0; i < x->n_in; i++) {
		modser_sg_tensor *t = tf_in(x, i);

		if (t == NULL || tf_out(x, i, shape_of(x, t, "Shape")) != 0)
			return -1;
	}
	return 0;
}

static modser_sg_tensor *load_rank(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	size_t n;

	(void)(t != NULL && tf_ndim(x, t, &n)); /* a known one was folded */
	return NULL;
}

static modser_sg_tensor *load_range(struct tf_layer *x)
{
	modser_sg_tensor *in[3] = {NULL};

	for (size_t i = 0; i < 3; i++) {
		in[i] = tf_in(x, i);
		if (in[i] == NULL)
			return NULL;
	}
	modser_sg_tensor *t = tf_done(msd_build_node(&x->b, "Range", in, 3));
	const int64_t open[] = {-1};
	if (t != NULL && t->ndim < 0 &&
	    (modser_sg_tensor_set_dims(t, open, 1) != 0 ||
	     modser_sg_tensor_set_dtype(t, in[0]->dtype_name) != 0))
		return NULL;
	return t;
}

/* The places of what is not zero, a row for each. */
static modser_sg_tensor *load_where(struct tf_layer *x)
{
	static const int64_t perm[] = {1, 0};
	modser_sg_tensor *t = tf_one(x, "NonZero", tf_in(x, 0));

	if (t == NULL || modser_sg_tensor_set_dtype(t, "int64") != 0)
		return NULL;
	return tf_transpose(x, t, perm, 2);
}

/* Inputs are indices, their number, and the values for hit and miss. */
static modser_sg_tensor *load_one_hot(struct tf_layer *x)
{
	static const int64_t one[] = {1};
	modser_sg_tensor *in[4] = {NULL};

	for (size_t i = 0; i < 4; i++) {
		in[i] = tf_in(x, i);
		if (in[i] == NULL)
			return NULL;
	}
	modser_sg_tensor *const both[] = {tf_reshape(x, in[3], one, 1),
					  tf_reshape(x, in[2], one, 1)};
	modser_sg_tensor *const all[] = {in[0], in[1], tf_concat(x, both, 2, 0)};
	modser_sg_tensor *t = msd_build_node(&x->b, "OneHot", all, 3);
	t = tf_done(msd_build_int(t, "axis", tf_int(x, "axis", -1)));
	return t != NULL && modser_sg_tensor_set_dtype(t, in[2]->dtype_name) == 0
		       ? t
		       : NULL;
}

const struct tf_row tf_rows_make[] = {
	{"BroadcastTo", 2, 2, .one = load_broadcast_to},
	{"Fill", 2, 2, .one = load_fill},
	{"OneHot", 4, 4, .one = load_one_hot},
	{"OnesLike", 1, 1, .one = load_like, .type = 1},
	{"Range", 3, 3, .one = load_range},
	{"Rank", 1, 1, .one = load_rank},
	{"Shape", 1, 1, .one = load_shape, .op = "Shape"},
	{"ShapeN", 1, TF_MANY, .run = load_shape_n},
	{"Size", 1, 1, .one = load_shape, .op = "Size"},
	{"Tile", 2, 2, .one = load_tile},
	{"Where", 1, 1, .one = load_where},
	{"ZerosLike", 1, 1, .one = load_like, .type = 0},
	{0},
};
