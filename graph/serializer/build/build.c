#include "graph/serializer/build/build.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"

/* A node of @op without inputs, which makes @t. */
static bool produce(const struct msd_build *b, const char *op, modser_sg_tensor *t)
{
	modser_sg_node *node = modser_sg_node_create(b->g, b->name);
	modser_sg_op *made = node != NULL ? modser_sg_op_create(b->g, op) : NULL;

	if (made == NULL || modser_sg_node_add_output(node, t) < 0)
		return false;
	msd_sg_node_take_op(node, made);
	return true;
}

modser_sg_tensor *msd_build_node(const struct msd_build *b, const char *op,
				 modser_sg_tensor *const *in, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (in[i] == NULL)
			return NULL;
	}
	modser_sg_tensor *t = modser_sg_tensor_create(b->g, b->name);
	if (t == NULL || !produce(b, op, t))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (modser_sg_node_add_input(t->producer, in[i]) < 0)
			return NULL;
	}
	return t;
}

modser_sg_tensor *msd_build_output(const struct msd_build *b, modser_sg_tensor *t)
{
	modser_sg_tensor *more =
		t != NULL ? modser_sg_tensor_create(b->g, b->name) : NULL;

	return more != NULL && modser_sg_node_add_output(t->producer, more) >= 0 ? more
										 : NULL;
}

static modser_sg_tensor *set(modser_sg_tensor *t, const char *param,
			     const modser_sg_attr *v)
{
	if (t == NULL || modser_sg_op_set_param(t->producer->op, param, v) != 0)
		return NULL;
	return t;
}

modser_sg_tensor *msd_build_int(modser_sg_tensor *t, const char *param, int64_t v)
{
	return set(t, param, &(modser_sg_attr){MODSER_ATTR_INT, 0, {.i = v}});
}

modser_sg_tensor *msd_build_float(modser_sg_tensor *t, const char *param, float v)
{
	return set(t, param, &(modser_sg_attr){MODSER_ATTR_FLOAT, 0, {.f = v}});
}

modser_sg_tensor *msd_build_text(modser_sg_tensor *t, const char *param, const char *v)
{
	return set(t, param, &(modser_sg_attr){MODSER_ATTR_STR, 0, {.s = v}});
}

modser_sg_tensor *msd_build_list(modser_sg_tensor *t, const char *param,
				 const int64_t *v, size_t n)
{
	return set(t, param, &(modser_sg_attr){MODSER_ATTR_INTS, n, {.ints = v}});
}

modser_sg_tensor *msd_build_numbers(modser_sg_tensor *t, const char *param,
				    const float *v, size_t n)
{
	return set(t, param, &(modser_sg_attr){MODSER_ATTR_FLOATS, n, {.floats = v}});
}

modser_sg_tensor *msd_build_done(modser_sg_tensor *t)
{
	return t != NULL && msd_sg_infer_node(t->producer) != -1 ? t : NULL;
}

modser_sg_tensor *msd_build_one(const struct msd_build *b, const char *op,
				modser_sg_tensor *x)
{
	return msd_build_done(msd_build_node(b, op, &x, 1));
}

modser_sg_tensor *msd_build_two(const struct msd_build *b, const char *op,
				modser_sg_tensor *x, modser_sg_tensor *y)
{
	modser_sg_tensor *const in[] = {x, y};

	return msd_build_done(msd_build_node(b, op, in, 2));
}

modser_sg_tensor *msd_build_reshape(const struct msd_build *b, modser_sg_tensor *x,
				    const int64_t *dims, size_t n)
{
	modser_sg_tensor *const in[] = {x, msd_build_ints(b, dims, n)};

	return msd_build_done(
		msd_build_int(msd_build_node(b, "Reshape", in, 2), "is_onnx", 1));
}

modser_sg_tensor *msd_build_transpose(const struct msd_build *b, modser_sg_tensor *x,
				      const int64_t *perm, size_t n)
{
	modser_sg_tensor *t = msd_build_node(b, "Transpose", &x, 1);

	return msd_build_done(msd_build_list(t, "perm", perm, n));
}

modser_sg_tensor *msd_build_reduce(const struct msd_build *b, modser_sg_tensor *x,
				   int64_t type, const int64_t *axes, size_t n)
{
	modser_sg_tensor *t = msd_build_node(b, "Reduction", &x, 1);

	t = msd_build_int(msd_build_list(t, "axes", axes, n), "type", type);
	return msd_build_done(msd_build_int(t, "keepdim", 1));
}

modser_sg_tensor *msd_build_constant(const struct msd_build *b, const char *dtype,
				     const int64_t *dims, size_t n, const void *bytes,
				     void (*release)(void *bytes))
{
	modser_sg_tensor *t = modser_sg_tensor_create_const(b->g, b->name);
	uint64_t size;

	if (t == NULL || modser_sg_tensor_set_dtype(t, dtype) != 0 ||
	    modser_sg_tensor_set_dims(t, dims, n) != 0 || !produce(b, "Const", t))
		return NULL;
	if (!msd_sg_tensor_bytes(t, &size)) {
		(void)msd_sg_fail(b->g, MSD_BAD_ARTIFACT, "\"%s\" is too large",
				  b->name);
		return NULL;
	}
	if (modser_sg_tensor_set_size(t, size) != 0 ||
	    modser_sg_tensor_set_buffer(t, bytes, release) != 0)
		return NULL;
	return t;
}

static modser_sg_tensor *copy(const struct msd_build *b, const char *dtype,
			      const int64_t *dims, size_t n, const void *from,
			      size_t element)
{
	size_t bytes = element;

	for (size_t i = 0; i < n; i++) {
		if (dims[i] < 0 || !msd_mul_size(bytes, (size_t)dims[i], &bytes)) {
			(void)msd_sg_fail(b->g, MSD_BAD_ARTIFACT, "\"%s\" is too large",
					  b->name);
			return NULL;
		}
	}
	void *p = malloc(bytes > 0 ? bytes : 1);
	if (p == NULL) {
		(void)msd_sg_no_memory(b->g);
		return NULL;
	}
	if (bytes > 0)
		memcpy(p, from, bytes);
	modser_sg_tensor *t = msd_build_constant(b, dtype, dims, n, p, free);
	if (t == NULL)
		free(p);
	return t;
}

modser_sg_tensor *msd_build_floats(const struct msd_build *b, const float *v,
				   const int64_t *dims, size_t n)
{
	return copy(b, "float32", dims, n, v, sizeof(*v));
}

modser_sg_tensor *msd_build_number(const struct msd_build *b, float v)
{
	return msd_build_floats(b, &v, NULL, 0);
}

modser_sg_tensor *msd_build_ints(const struct msd_build *b, const int64_t *v, size_t n)
{
	const int64_t dims[] = {(int64_t)n};

	return copy(b, "int64", dims, 1, v, sizeof(*v));
}

int msd_build_rename(modser_sg_tensor *t, const char *name)
{
	char *copied;

	if (!msd_sg_is_name(name)) {
		return msd_sg_fail(t->graph, MSD_BAD_ARTIFACT,
				   "the name of a tensor is not UTF-8");
	}
	copied = msd_sg_copy(name, strlen(name));
	if (copied == NULL)
		return msd_sg_no_memory(t->graph);
	free(t->name);
	t->name = copied;
	return 0;
}
