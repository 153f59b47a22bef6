/*
 * A tensor of a graph: created by name, then its extents, dtype and bytes are set,
 * each checked alone. check.c checks them against each other, because serializers set
 * them in the order of their files.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "proto/base/grow.h"

static int fail(modser_sg_tensor *t, msd_err code, const char *text)
{
	return msd_sg_fail(t->graph, code, "tensor %zu \"%s\": %s", t->index, t->name,
			   text);
}

static void drop_dim_names(modser_sg_tensor *t)
{
	for (size_t i = 0; t->dim_names != NULL && i < MODSER_GRAPH_MAX_NDIM; i++)
		free(t->dim_names[i]);
	free(t->dim_names);
	t->dim_names = NULL;
}

static void drop_buffer(modser_sg_tensor *t)
{
	if (t->release != NULL)
		t->release((void *)(uintptr_t)t->data);
	t->release = NULL;
	t->data = NULL;
}

void msd_sg_tensor_destroy(modser_sg_tensor *t)
{
	if (t == NULL)
		return;
	drop_buffer(t);
	drop_dim_names(t);
	free(t->quants);
	free(t->name);
	free(t);
}

modser_sg_tensor *msd_sg_tensor_new(modser_graph *graph, const char *name)
{
	modser_sg_tensor *t = calloc(1, sizeof(*t));

	if (t != NULL)
		t->name = msd_sg_copy(name, strlen(name));
	if (t == NULL || t->name == NULL) {
		free(t);
		(void)msd_sg_no_memory(graph);
		return NULL;
	}
	t->graph = graph;
	t->index = graph->n_tensors;
	t->type = MODSER_TENSOR_VAR;
	t->ndim = -1;
	t->dtype = (struct msd_dtype){MSD_DT_FLOAT, 32, 1};
	(void)msd_dtype_format(t->dtype, t->dtype_name);
	return t;
}

modser_sg_tensor *modser_sg_tensor_create(modser_graph *graph, const char *name)
{
	if (graph == NULL || name == NULL) {
		(void)msd_sg_null(graph, "the name of a tensor");
		return NULL;
	}
	if (!msd_sg_is_name(name)) {
		(void)msd_sg_fail(graph, MSD_BAD_ARGUMENT,
				  "tensor %zu: its name is not UTF-8",
				  graph->n_tensors);
		return NULL;
	}
	modser_sg_tensor *t = msd_sg_tensor_new(graph, name);
	if (t == NULL)
		return NULL;
	if (!msd_grow(&graph->tensors, graph->n_tensors, sizeof(t))) {
		msd_sg_tensor_destroy(t);
		(void)msd_sg_no_memory(graph);
		return NULL;
	}
	graph->tensors[graph->n_tensors++] = t;
	return t;
}

modser_sg_tensor *modser_sg_tensor_create_const(modser_graph *graph, const char *name)
{
	modser_sg_tensor *t = modser_sg_tensor_create(graph, name);

	if (t != NULL)
		t->type = MODSER_TENSOR_CONST;
	return t;
}

int modser_sg_tensor_set_dims(modser_sg_tensor *tensor, const int64_t *dims, size_t n)
{
	if (tensor == NULL || (dims == NULL && n > 0))
		return msd_sg_null(tensor != NULL ? tensor->graph : NULL, "dims");
	if (n > MODSER_GRAPH_MAX_NDIM)
		return fail(tensor, MSD_TOO_LARGE, "it has more than 32 dimensions");
	int64_t all = 1;
	for (size_t i = 0; i < n; i++) {
		if (dims[i] < -1)
			return fail(tensor, MSD_BAD_ARGUMENT, "an extent is negative");
		if (dims[i] > 0 && __builtin_mul_overflow(all, dims[i], &all)) {
			return fail(tensor, MSD_TOO_LARGE,
				    "its extents make too many elements");
		}
	}
	drop_dim_names(tensor);
	if (n > 0)
		memcpy(tensor->dims, dims, n * sizeof(*dims));
	tensor->ndim = (int)n;
	return 0;
}

int modser_sg_tensor_set_dim_name(modser_sg_tensor *tensor, size_t i, const char *name)
{
	if (tensor == NULL || name == NULL) {
		return msd_sg_null(tensor != NULL ? tensor->graph : NULL,
				   "the name of a dimension");
	}
	if (tensor->ndim < 0 || i >= (size_t)tensor->ndim)
		return fail(tensor, MSD_BAD_ARGUMENT, "it has no such dimension");
	if (!msd_sg_is_name(name)) {
		return fail(tensor, MSD_BAD_ARGUMENT,
			    "a dimension's name is not UTF-8");
	}
	if (tensor->dim_names == NULL)
		tensor->dim_names = calloc(MODSER_GRAPH_MAX_NDIM, sizeof(char *));
	char *copy = msd_sg_copy(name, strlen(name));
	if (tensor->dim_names == NULL || copy == NULL) {
		free(copy);
		return msd_sg_no_memory(tensor->graph);
	}
	free(tensor->dim_names[i]);
	tensor->dim_names[i] = copy;
	return 0;
}

void msd_sg_tensor_take_dtype(modser_sg_tensor *t, struct msd_dtype dtype)
{
	t->dtype = dtype;
	(void)msd_dtype_format(dtype, t->dtype_name);
	t->has_dtype = true;
}

/* True for types that a tensor of a graph can have. */
static bool is_element(struct msd_dtype t)
{
	const bool is_whole =
		t.bits == 8 || t.bits == 16 || t.bits == 32 || t.bits == 64;

	if (t.lanes != 1 || t.code == MSD_DT_HANDLE)
		return false;
	if (t.code == MSD_DT_INT || t.code == MSD_DT_UINT)
		return is_whole || t.bits == 2 || t.bits == 4;
	if (t.code == MSD_DT_FLOAT)
		return is_whole && t.bits != 8;
	return true;
}

int modser_sg_tensor_set_dtype(modser_sg_tensor *tensor, const char *dtype)
{
	if (tensor == NULL || dtype == NULL)
		return msd_sg_null(tensor != NULL ? tensor->graph : NULL, "dtype");
	struct msd_dtype parsed;

	if (!msd_dtype_parse(dtype, strlen(dtype), &parsed) || !is_element(parsed))
		return fail(tensor, MSD_BAD_ARGUMENT, "no such element type");
	msd_sg_tensor_take_dtype(tensor, parsed);
	return 0;
}

int modser_sg_tensor_set_layout(modser_sg_tensor *tensor, const char *layout)
{
	if (tensor == NULL || layout == NULL)
		return msd_sg_null(tensor != NULL ? tensor->graph : NULL, "layout");
	const bool is_nhwc = strcmp(layout, "NHWC") == 0;

	if (!is_nhwc && strcmp(layout, "NCHW") != 0)
		return fail(tensor, MSD_BAD_ARGUMENT, "a layout is NCHW or NHWC");
	tensor->is_nhwc = is_nhwc;
	return 0;
}

int modser_sg_tensor_set_type(modser_sg_tensor *tensor, modser_sg_tensor_type type)
{
	if (tensor == NULL)
		return msd_sg_null(NULL, "tensor");
	if ((unsigned)type >= MODSER_TENSOR_TYPE_COUNT)
		return fail(tensor, MSD_BAD_ARGUMENT, "no such type");
	tensor->type = type;
	return 0;
}

int modser_sg_tensor_set_size(modser_sg_tensor *tensor, uint64_t bytes)
{
	if (tensor == NULL)
		return msd_sg_null(NULL, "tensor");
	tensor->bytes = bytes;
	return 0;
}

int modser_sg_tensor_add_quant(modser_sg_tensor *tensor, float scale,
			       int32_t zero_point)
{
	if (tensor == NULL)
		return msd_sg_null(NULL, "tensor");
	if (!(scale > 0) || scale > FLT_MAX) {
		return fail(tensor, MSD_BAD_ARGUMENT,
			    "a scale is not above 0, or not finite");
	}
	if (!msd_grow(&tensor->quants, tensor->n_quants, sizeof(*tensor->quants)))
		return msd_sg_no_memory(tensor->graph);
	tensor->quants[tensor->n_quants++] = (struct msd_sg_quant){scale, zero_point};
	return 0;
}

int modser_sg_tensor_set_buffer(modser_sg_tensor *tensor, const void *buffer,
				void (*release)(void *buffer))
{
	if (tensor == NULL)
		return msd_sg_null(NULL, "tensor");
	if (tensor->type != MODSER_TENSOR_CONST)
		return fail(tensor, MSD_BAD_ARGUMENT, "it is not a constant");
	drop_buffer(tensor);
	tensor->data = buffer;
	tensor->release = release;
	return 0;
}

int modser_sg_tensor_set_location(modser_sg_tensor *tensor, uint64_t offset,
				  uint64_t bytes)
{
	if (tensor == NULL)
		return msd_sg_null(NULL, "tensor");
	if (tensor->type != MODSER_TENSOR_CONST)
		return fail(tensor, MSD_BAD_ARGUMENT, "it is not a constant");
	if (bytes > INT64_MAX || offset > INT64_MAX - bytes) {
		return fail(tensor, MSD_BAD_ARGUMENT,
			    "its location is beyond any file");
	}
	tensor->has_location = true;
	tensor->offset = offset;
	if (tensor->data == NULL)
		tensor->bytes = bytes;
	return 0;
}

const char *modser_sg_tensor_layout(const modser_sg_tensor *tensor)
{
	if (tensor == NULL)
		return "";
	return tensor->is_nhwc ? "NHWC" : "NCHW";
}

bool modser_sg_tensor_quant(const modser_sg_tensor *tensor, size_t i, float *ret_scale,
			    int32_t *ret_zero_point)
{
	if (tensor == NULL || i >= tensor->n_quants || ret_scale == NULL ||
	    ret_zero_point == NULL)
		return false;
	*ret_scale = tensor->quants[i].scale;
	*ret_zero_point = tensor->quants[i].zero_point;
	return true;
}

bool modser_sg_tensor_location(const modser_sg_tensor *tensor, uint64_t *ret_offset,
			       uint64_t *ret_bytes)
{
	if (tensor == NULL || !tensor->has_location)
		return false;
	if (ret_offset != NULL)
		*ret_offset = tensor->offset;
	if (ret_bytes != NULL)
		*ret_bytes = tensor->bytes;
	return true;
}

bool msd_sg_tensor_bytes(const modser_sg_tensor *t, uint64_t *ret)
{
	uint64_t n;

	return t->ndim >= 0 && msd_shape_elements(t->dims, (size_t)t->ndim, &n) &&
	       msd_dtype_bytes(t->dtype, n, ret);
}

const char *modser_sg_tensor_name(const modser_sg_tensor *tensor)
{
	if (tensor == NULL)
		return "";
	return tensor->name;
}

size_t modser_sg_tensor_index(const modser_sg_tensor *tensor)
{
	if (tensor == NULL)
		return 0;
	return tensor->index;
}

modser_sg_tensor_type modser_sg_tensor_type_of(const modser_sg_tensor *tensor)
{
	if (tensor == NULL)
		return MODSER_TENSOR_TYPE_COUNT;
	return tensor->type;
}

const char *modser_sg_tensor_dtype(const modser_sg_tensor *tensor)
{
	if (tensor == NULL)
		return "";
	return tensor->dtype_name;
}

int modser_sg_tensor_ndim(const modser_sg_tensor *tensor)
{
	if (tensor == NULL)
		return -1;
	return tensor->ndim;
}

const int64_t *modser_sg_tensor_dims(const modser_sg_tensor *tensor)
{
	if (tensor == NULL)
		return NULL;
	return tensor->dims;
}

const char *modser_sg_tensor_dim_name(const modser_sg_tensor *tensor, size_t i)
{
	if (tensor == NULL)
		return "";
	if (tensor->dim_names == NULL || i >= MODSER_GRAPH_MAX_NDIM ||
	    tensor->dim_names[i] == NULL)
		return "";
	return tensor->dim_names[i];
}

const void *modser_sg_tensor_data(const modser_sg_tensor *tensor, uint64_t *ret_bytes)
{
	if (tensor == NULL || ret_bytes == NULL)
		return NULL;
	*ret_bytes = tensor->bytes;
	return tensor->data;
}
