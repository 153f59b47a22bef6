/* Read TensorProtos as constants: bytes that stay in the file, or lists of numbers. */
#include "graph/serializer/onnx/tensor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/dtype.h"
#include "graph/serializer/onnx/external.h"
#include "graph/serializer/onnx/load.h"

static int fail(const modser_sg_tensor *t, const char *text)
{
	return msd_sg_fail(t->graph, MSD_BAD_ARTIFACT, "tensor \"%s\": %s", t->name,
			   text);
}

static modser_sg_tensor *create(modser_graph *g, const char *name, const char *dtype,
				const int64_t *dims, size_t n_dims)
{
	modser_sg_tensor *t = modser_sg_tensor_create_const(g, name);
	modser_sg_node *node = t != NULL ? modser_sg_node_create(g, name) : NULL;
	modser_sg_op *op = node != NULL ? modser_sg_op_create(g, "Const") : NULL;

	if (op == NULL || modser_sg_tensor_set_dtype(t, dtype) != 0 ||
	    modser_sg_tensor_set_dims(t, dims, n_dims) != 0 ||
	    modser_sg_node_add_output(node, t) < 0)
		return NULL;
	msd_sg_node_take_op(node, op);
	return t;
}

modser_sg_tensor *onnx_tensor_create(modser_graph *g, const char *name,
				     const char *dtype, const int64_t *dims,
				     size_t n_dims, const void *bytes,
				     void (*release)(void *bytes))
{
	modser_sg_tensor *t = create(g, name, dtype, dims, n_dims);
	uint64_t size;

	if (t == NULL)
		return NULL;
	if (!msd_sg_tensor_bytes(t, &size)) {
		(void)fail(t, "it is too large");
		return NULL;
	}
	if (modser_sg_tensor_set_size(t, size) != 0 ||
	    modser_sg_tensor_set_buffer(t, bytes, release) != 0)
		return NULL;
	return t;
}

/* Give @copy to the tensor, which frees it with free(). */
static int own(modser_sg_tensor *t, void *copy)
{
	if (modser_sg_tensor_set_buffer(t, copy, free) == 0)
		return 0;
	free(copy);
	return -1;
}

/* Check the size against the shape. Use the bytes in place if the file aligns them,
 * else copy them. */
static int use_bytes(modser_sg_tensor *t, struct msd_span bytes)
{
	const size_t align = t->dtype.bits >= 8 ? t->dtype.bits / 8u : 1;

	if ((uintptr_t)bytes.p % align == 0)
		return modser_sg_tensor_set_buffer(t, bytes.p, NULL);
	void *copy = malloc(bytes.n > 0 ? bytes.n : 1);
	if (copy == NULL)
		return msd_sg_no_memory(t->graph);
	memcpy(copy, bytes.p, bytes.n);
	return own(t, copy);
}

static int use_raw(modser_sg_tensor *t, struct msd_span file, const uint8_t *place)
{
	const uint64_t offset = msd_le64(place);
	const uint64_t n = msd_le64(place + 8);

	if (offset > file.n || n > file.n - offset || n != t->bytes)
		return fail(t, "its number of bytes does not match its shape");
	if (modser_sg_tensor_set_location(t, offset, n) != 0)
		return -1;
	return use_bytes(t, (struct msd_span){file.p + offset, (size_t)n});
}

/* The list that holds a type's elements, its length, and the bytes of each. */
struct typed {
	const void *p;
	size_t n;
	size_t size;
};

static struct typed typed_of(const Onnx__TensorProto *p, struct msd_dtype dtype)
{
	const bool is_wide = dtype.bits == 64;

	if (dtype.code == MSD_DT_FLOAT && dtype.bits == 32)
		return (struct typed){p->float_data, p->n_float_data, 4};
	if (dtype.code == MSD_DT_FLOAT && is_wide)
		return (struct typed){p->double_data, p->n_double_data, 8};
	if (dtype.code == MSD_DT_INT && is_wide)
		return (struct typed){p->int64_data, p->n_int64_data, 8};
	if (dtype.code == MSD_DT_UINT && dtype.bits >= 32)
		return (struct typed){p->uint64_data, p->n_uint64_data, 8};
	if (dtype.code == MSD_DT_COMPLEX)
		return (struct typed){0};
	return (struct typed){p->int32_data, p->n_int32_data, 4};
}

/* Smaller elements are in the lower bytes of larger ones, in this machine's byte
 * order. */
static int use_typed(modser_sg_tensor *t, const Onnx__TensorProto *p)
{
	const struct typed from = typed_of(p, t->dtype);
	/* Elements of less than 8 bits are packed; an entry of the list has a byte. */
	const size_t size = t->dtype.bits >= 8 ? t->dtype.bits / 8u : 1;

	if (from.n != t->bytes / size || from.size < size)
		return fail(t, "its elements are not as many as its shape says");
	uint8_t *copy = calloc(from.n + 1, size);
	if (copy == NULL)
		return msd_sg_no_memory(t->graph);
	for (size_t i = 0; i < from.n; i++) {
		memcpy(copy + i * size, (const uint8_t *)from.p + i * from.size, size);
	}
	return own(t, copy);
}

static int use_external(modser_sg_tensor *t, struct onnx_load *l,
			const Onnx__TensorProto *p)
{
	struct msd_span bytes;

	return onnx_external_find(l->external, l->g, p, &bytes) != 0 ||
			       use_bytes(t, bytes) != 0
		       ? -1
		       : 0;
}

modser_sg_tensor *onnx_tensor_read(struct onnx_load *l, const Onnx__TensorProto *p,
				   const char *name)
{
	modser_graph *g = l->g;
	const char *dtype = onnx_dtype_name(p->data_type);
	uint64_t size;

	if (dtype == NULL) {
		(void)msd_sg_fail(g, MSD_UNSUPPORTED,
				  "tensor \"%s\": element type %d cannot be read", name,
				  (int)p->data_type);
		return NULL;
	}
	if (p->n_dims > MODSER_GRAPH_MAX_NDIM) {
		(void)msd_sg_fail(g, MSD_UNSUPPORTED,
				  "tensor \"%s\": it has more than 32 dimensions",
				  name);
		return NULL;
	}
	modser_sg_tensor *t = create(g, name, dtype, p->dims, p->n_dims);
	if (t == NULL)
		return NULL;
	if (!msd_sg_tensor_bytes(t, &size)) {
		(void)fail(t, "its shape cannot be");
		return NULL;
	}
	int result = modser_sg_tensor_set_size(t, size);
	if (result == 0 && p->data_location == ONNX_IS_EXTERNAL) {
		result = use_external(t, l, p);
	} else if (result == 0 && p->has_raw_data) {
		result = use_raw(t, l->file, p->raw_data.data);
	} else if (result == 0) {
		result = use_typed(t, p);
	}
	return result == 0 ? t : NULL;
}
