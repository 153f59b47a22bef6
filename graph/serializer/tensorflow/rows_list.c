/*
 * Lists of tensors, which TensorFlow 2 has for its tensor arrays. A list is a tensor of
 * its elements, one after another; one that a loop fills has none before the loop is
 * built (loop.c).
 */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tensorflow/layer.h"

static struct tf_value *new_list(struct tf_layer *x, const struct tf_value *like)
{
	struct tf_value *v = tf_value_new(x->f->l);

	if (v == NULL || !tf_outs(x, 1))
		return NULL;
	v->kind = TF_LIST;
	v->element_ndim = -1;
	if (like != NULL) {
		v->element = like->element;
		v->element_ndim = like->element_ndim;
		v->element_dtype = like->element_dtype;
		v->size = like->size;
	}
	x->f->cells[x->at].out[0] = v;
	return v;
}

static const struct tf_value *list(struct tf_layer *x, size_t i)
{
	if (x->in[i]->kind == TF_LIST)
		return x->in[i];
	(void)tf_fail(x, "input %zu is no list of tensors", i);
	return NULL;
}

/* The elements of a list; NULL with the error of the graph: it has none yet. */
static modser_sg_tensor *elements(struct tf_layer *x, const struct tf_value *v)
{
	if (v == NULL || v->t != NULL)
		return v != NULL ? v->t : NULL;
	return tf_fail(x, "it reads a list that was not filled in turn");
}

static int load_from_tensor(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	struct tf_value *v = t != NULL ? new_list(x, NULL) : NULL;

	if (v == NULL)
		return -1;
	v->t = t;
	return 0;
}

/* The shape of an element is a list of extents, or -1. */
static int load_reserve(struct tf_layer *x)
{
	struct tf_value *v = new_list(x, NULL);
	size_t n;
	const int64_t *dims = tf_ints(x->f->l, x->in[0], &n);

	if (v == NULL)
		return -1;
	v->element_dtype = tf_type(x, "element_dtype");
	v->size = x->in[1];
	if (v->element_dtype == NULL || tf_in(x, 1) == NULL)
		return -1;
	if (dims == NULL || x->in[0]->t->ndim != 1 || n > MODSER_GRAPH_MAX_NDIM)
		return 0;
	v->element = dims;
	v->element_ndim = (int)n;
	return 0;
}

static modser_sg_tensor *load_get_item(struct tf_layer *x)
{
	modser_sg_tensor *t = elements(x, list(x, 0));
	modser_sg_tensor *const in[] = {t, t != NULL ? tf_in(x, 1) : NULL};
	modser_sg_tensor *made = msd_build_node(&x->b, "Gather", in, 2);

	made = tf_done(msd_build_int(made, "is_onnx", 1));
	return made != NULL && modser_sg_tensor_set_dtype(made, t->dtype_name) == 0
		       ? made
		       : NULL;
}

/* A list of one element becomes the item; else one place is replaced. */
static modser_sg_tensor *replace(struct tf_layer *x, modser_sg_tensor *t,
				 modser_sg_tensor *item)
{
	static const int64_t first = 0;
	static const int64_t one[] = {1, 1};
	modser_sg_tensor *row = tf_with_axes(x, "Unsqueeze", item, &first, 1);

	if (t->ndim > 0 && t->dims[0] == 1)
		return row;
	modser_sg_tensor *const in[] = {
		t, tf_reshape(x, tf_cast(x, tf_in(x, 1), "int64"), one, 2), row};
	return tf_done(msd_build_node(&x->b, "ScatterND", in, 3));
}

/* A list of zeros that are like @item. */
static modser_sg_tensor *zeros_like(struct tf_layer *x, const struct tf_value *v,
				    modser_sg_tensor *item)
{
	const int64_t one[] = {1};
	modser_sg_tensor *parts[] = {NULL, tf_one(x, "Shape", item)};

	if (v->size == NULL || v->size->kind != TF_TENSOR || parts[1] == NULL)
		return tf_fail(x, "it writes a list of no known size");
	parts[0] = tf_reshape(x, tf_cast(x, v->size->t, "int64"), one, 1);
	if (modser_sg_tensor_set_dtype(parts[1], "int64") != 0)
		return NULL;
	modser_sg_tensor *t = tf_two(x, "Expand", tf_number(x, 0, item->dtype_name),
				     tf_concat(x, parts, 2, 0));
	return t != NULL && modser_sg_tensor_set_dtype(t, item->dtype_name) == 0 ? t
										 : NULL;
}

/* The number of elements of list @v; -1 if it is not known. */
static int64_t size_of(struct tf_layer *x, const struct tf_value *v)
{
	size_t n = 0;
	const int64_t *size = v->size != NULL ? tf_ints(x->f->l, v->size, &n) : NULL;

	return size != NULL && n == 1 && size[0] >= 0 ? size[0] : -1;
}

/* List @from with @item in one of its places, outside of a loop that fills it. */
static modser_sg_tensor *write_item(struct tf_layer *x, const struct tf_value *from,
				    modser_sg_tensor *item)
{
	static const int64_t first = 0;
	const int64_t size = size_of(x, from);

	if (size == 1 && from->t == NULL)
		return tf_with_axes(x, "Unsqueeze", item, &first, 1);
	modser_sg_tensor *t = from->t != NULL ? from->t : zeros_like(x, from, item);
	t = t != NULL ? replace(x, t, item) : NULL;
	if (t == NULL || modser_sg_tensor_set_dtype(t, item->dtype_name) != 0)
		return NULL;
	if (t->ndim < 0 && item->ndim >= 0 && item->ndim < (int)MODSER_GRAPH_MAX_NDIM) {
		t->ndim = item->ndim + 1;
		t->dims[0] = size;
		memcpy(t->dims + 1, item->dims, (size_t)item->ndim * sizeof(int64_t));
	}
	return t;
}

static int load_set_item(struct tf_layer *x)
{
	const struct tf_value *from = list(x, 0);
	modser_sg_tensor *item = from != NULL ? tf_in(x, 2) : NULL;
	struct tf_value *v = item != NULL ? new_list(x, from) : NULL;

	if (v == NULL)
		return -1;
	if (!from->is_slot && from->base == NULL) {
		v->t = write_item(x, from, item);
		return v->t != NULL ? 0 : -1;
	}
	if (from->base != NULL) {
		(void)tf_fail(x, "it writes a second element of one list in a turn");
		return -1;
	}
	v->base = from;
	v->index = x->in[1];
	v->item = item;
	return 0;
}

static modser_sg_tensor *load_stack(struct tf_layer *x)
{
	return elements(x, list(x, 0));
}

static modser_sg_tensor *load_length(struct tf_layer *x)
{
	const struct tf_value *v = list(x, 0);
	const int64_t zero = 0;

	if (v == NULL || (v->t == NULL && v->size != NULL))
		return v != NULL ? v->size->t : NULL;
	modser_sg_tensor *const in[] = {
		tf_one(x, "Shape", elements(x, v)),
		tf_reshape(x, msd_build_ints(&x->b, &zero, 1), NULL, 0)};
	modser_sg_tensor *t = msd_build_node(&x->b, "Gather", in, 2);
	return tf_cast(x, tf_done(msd_build_int(t, "is_onnx", 1)), "int32");
}

const struct tf_row tf_rows_list[] = {
	{"TensorListFromTensor", 2, 2, .run = load_from_tensor},
	{"TensorListGetItem", 3, 3, .one = load_get_item},
	{"TensorListLength", 1, 1, .one = load_length},
	{"TensorListReserve", 2, 2, .run = load_reserve},
	{"TensorListSetItem", 3, 3, .run = load_set_item},
	{"TensorListStack", 2, 2, .one = load_stack},
	{0},
};
