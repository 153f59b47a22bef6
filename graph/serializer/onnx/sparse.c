/* Read SparseTensorProtos: values, and their indices into a shape. */
#include "graph/serializer/onnx/sparse.h"

#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/external.h"
#include "graph/serializer/onnx/tensor.h"

/* A tensor under construction. The parts are constants of a graph of their own. */
struct sparse {
	const char *name;
	const int64_t *dims;
	size_t n_dims;
	const modser_sg_tensor *values;
	const modser_sg_tensor *indices;
	uint64_t n; /* elements */
};

static int fail(modser_graph *g, const struct sparse *s, const char *text)
{
	return msd_sg_fail(g, MSD_BAD_ARTIFACT, "sparse tensor \"%s\": %s", s->name,
			   text);
}

/* Place of value @i: the file has it as one number or as one for each axis. */
static int place_of(modser_graph *g, const struct sparse *s, size_t i, uint64_t *ret)
{
	const int64_t *at = s->indices->data;
	uint64_t place = 0;

	if (s->indices->ndim == 1) {
		*ret = (uint64_t)at[i];
		return at[i] >= 0 && *ret < s->n
			       ? 0
			       : fail(g, s, "an index is outside of its shape");
	}
	for (size_t k = 0; k < s->n_dims; k++) {
		const int64_t one = at[i * s->n_dims + k];

		if (one < 0 || one >= s->dims[k])
			return fail(g, s, "an index is outside of its shape");
		place = place * (uint64_t)s->dims[k] + (uint64_t)one;
	}
	*ret = place;
	return 0;
}

static int check(modser_graph *g, const struct sparse *s)
{
	const modser_sg_tensor *v = s->values;
	const modser_sg_tensor *at = s->indices;

	if (s->n_dims > MODSER_GRAPH_MAX_NDIM)
		return fail(g, s, "it has more than 32 dimensions");
	if (v->ndim != 1 || v->dtype.bits % 8 != 0)
		return fail(g, s, "its values are no list of whole bytes");
	if (strcmp(at->dtype_name, "int64") != 0 || (at->ndim != 1 && at->ndim != 2) ||
	    at->dims[0] != v->dims[0] ||
	    (at->ndim == 2 && (uint64_t)at->dims[1] != s->n_dims))
		return fail(g, s, "its indices do not fit its values and shape");
	return 0;
}

/* Write the values into zeros. */
static modser_sg_tensor *densify(struct onnx_load *l, struct sparse *s)
{
	const size_t size = s->values->dtype.bits / 8u;
	uint64_t bytes;

	if (check(l->g, s) != 0)
		return NULL;
	if (!msd_shape_elements(s->dims, s->n_dims, &s->n) ||
	    __builtin_mul_overflow(s->n, size, &bytes) ||
	    bytes > ONNX_MAX_DENSE_BYTES - l->external->dense_bytes) {
		(void)msd_sg_fail(l->g, MSD_TOO_LARGE,
				  "sparse tensor \"%s\": sparse tensors have more than "
				  "%llu MiB together, written out",
				  s->name,
				  (unsigned long long)(ONNX_MAX_DENSE_BYTES >> 20));
		return NULL;
	}
	l->external->dense_bytes += bytes;
	uint8_t *to = calloc(1, bytes > 0 ? (size_t)bytes : 1);
	if (to == NULL) {
		(void)msd_sg_no_memory(l->g);
		return NULL;
	}
	for (size_t i = 0; i < (size_t)s->values->dims[0]; i++) {
		uint64_t place = 0;

		if (place_of(l->g, s, i, &place) != 0) {
			free(to);
			return NULL;
		}
		memcpy(to + place * size, (const uint8_t *)s->values->data + i * size,
		       size);
	}
	modser_sg_tensor *t = onnx_tensor_create(l->g, s->name, s->values->dtype_name,
						 s->dims, s->n_dims, to, free);
	if (t == NULL)
		free(to);
	return t;
}

modser_sg_tensor *onnx_sparse_read(struct onnx_load *l,
				   const Onnx__SparseTensorProto *p, const char *name)
{
	struct sparse s = {.name = name, .dims = p->dims, .n_dims = p->n_dims};
	struct onnx_load apart = *l;
	modser_sg_tensor *t = NULL;

	if (p->values == NULL || p->indices == NULL) {
		(void)fail(l->g, &s, "it has no values or no indices");
		return NULL;
	}
	apart.g = modser_graph_create("");
	if (apart.g == NULL) {
		(void)msd_sg_no_memory(l->g);
		return NULL;
	}
	s.values = onnx_tensor_read(&apart, p->values, name);
	s.indices =
		s.values != NULL ? onnx_tensor_read(&apart, p->indices, name) : NULL;
	if (s.indices == NULL) {
		(void)msd_sg_fail(l->g, apart.g->diag.code, "%s",
				  modser_graph_error(apart.g));
	} else {
		t = densify(l, &s);
	}
	modser_graph_destroy(apart.g);
	return t;
}
