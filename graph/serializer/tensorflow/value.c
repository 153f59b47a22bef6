/* Values while a model is read: their memory, constants of the file, and the numbers
 * of small ones. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tensorflow/layer.h"
#include "graph/serializer/wire/wire.h"

#define MAX_REPEATED 4096u /* elements; more of one value are expanded in a call */
#define TEXT 7             /* TensorFlow's type of texts */

struct tf_block {
	struct tf_block *next;
};

int tf_load_fail(const struct tf_load *l, msd_err code, const char *fmt, ...)
{
	char text[768];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return msd_sg_fail(l->g, code, "%s", text);
}

struct tf_value *tf_value_new(struct tf_load *l)
{
	struct tf_value *v = calloc(1, sizeof(*v));

	if (v == NULL) {
		(void)msd_sg_no_memory(l->g);
		return NULL;
	}
	v->next = l->values;
	l->values = v;
	return v;
}

void *tf_alloc(struct tf_load *l, size_t n, size_t bytes)
{
	struct tf_block *block = NULL;
	size_t all;

	if (msd_mul_size(n, bytes, &all) && msd_add_size(all, sizeof(*block), &all))
		block = calloc(1, all);
	if (block == NULL) {
		(void)msd_sg_no_memory(l->g);
		return NULL;
	}
	block->next = l->blocks;
	l->blocks = block;
	return block + 1;
}

struct tf_value *tf_value_of(struct tf_load *l, modser_sg_tensor *t)
{
	struct tf_value *v = t != NULL ? tf_value_new(l) : NULL;

	if (v != NULL)
		v->t = t;
	return v;
}

static size_t element_bytes(const char *dtype)
{
	struct msd_dtype parsed;

	return msd_dtype_parse(dtype, strlen(dtype), &parsed) && parsed.bits >= 8
		       ? parsed.bits / 8u
		       : 1;
}

/* Read the extents of @p; false: they are none, or too large. */
static bool read_dims(const Tensorflow__TensorProto *p, int64_t *dims, size_t *ret_n,
		      size_t *ret_elements)
{
	const Tensorflow__TensorShapeProto *s = p->tensor_shape;

	*ret_n = s != NULL ? s->n_dim : 0;
	*ret_elements = 1;
	if (*ret_n > MODSER_GRAPH_MAX_NDIM || (s != NULL && s->unknown_rank))
		return false;
	for (size_t i = 0; i < *ret_n; i++) {
		dims[i] = s->dim[i]->size;
		if (dims[i] < 0 ||
		    !msd_mul_size(*ret_elements, (size_t)dims[i], ret_elements))
			return false;
	}
	return *ret_elements <= SIZE_MAX / 16;
}

/* Number of elements that @p lists. */
static size_t count_listed(const Tensorflow__TensorProto *p, struct msd_span file)
{
	size_t floats = 0;

	for (size_t i = 0; i < p->n_float_val; i++) {
		struct msd_span piece;

		if (!msd_wire_place(&p->float_val[i], file, &piece))
			return 0;
		floats += piece.n / 4;
	}
	return floats + p->n_double_val + p->n_int_val + p->n_int64_val +
	       p->n_bool_val + p->n_half_val + p->n_uint32_val + p->n_uint64_val;
}

static void put(uint8_t *to, size_t width, uint64_t bits)
{
	for (size_t i = 0; i < width; i++)
		to[i] = (uint8_t)(bits >> (8 * i));
}

/* Write the floats, which are in the file; their number. */
static size_t write_floats(const Tensorflow__TensorProto *p, struct msd_span file,
			   size_t max, uint8_t *to)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_float_val; i++) {
		struct msd_span piece;

		if (!msd_wire_place(&p->float_val[i], file, &piece))
			return n; /* counted before */
		for (size_t k = 0; k + 4 <= piece.n && n < max; k += 4, n++)
			memcpy(to + 4 * n, piece.p + k, 4);
	}
	return n;
}

/* Write the listed elements, one after another. One list has elements. */
static void write_listed(const Tensorflow__TensorProto *p, struct msd_span file,
			 size_t width, size_t max, uint8_t *to)
{
	size_t n = width == 4 ? write_floats(p, file, max, to) : 0;

	for (size_t i = 0; i < p->n_double_val && width == 8 && n < max; i++, n++)
		memcpy(to + 8 * n, &p->double_val[i], 8);
	for (size_t i = 0; i < p->n_int_val && n < max; i++, n++)
		put(to + width * n, width, (uint64_t)p->int_val[i]);
	for (size_t i = 0; i < p->n_int64_val && n < max; i++, n++)
		put(to + width * n, width, (uint64_t)p->int64_val[i]);
	for (size_t i = 0; i < p->n_bool_val && n < max; i++, n++)
		put(to + width * n, width, p->bool_val[i] != 0);
	for (size_t i = 0; i < p->n_half_val && n < max; i++, n++)
		put(to + width * n, width, (uint64_t)p->half_val[i]);
	for (size_t i = 0; i < p->n_uint32_val && n < max; i++, n++)
		put(to + width * n, width, p->uint32_val[i]);
	for (size_t i = 0; i < p->n_uint64_val && n < max; i++, n++)
		put(to + width * n, width, p->uint64_val[i]);
}

static modser_sg_tensor *own_constant(struct tf_load *l, const struct msd_build *b,
				      const char *dtype, const int64_t *dims, size_t n,
				      uint8_t *own)
{
	modser_sg_tensor *t =
		own != NULL ? msd_build_constant(b, dtype, dims, n, own, free) : NULL;

	if (own == NULL)
		(void)msd_sg_no_memory(l->g);
	if (t == NULL)
		free(own);
	return t;
}

modser_sg_tensor *tf_stored(struct tf_load *l, const struct msd_build *b,
			    const char *dtype, const int64_t *dims, size_t n,
			    struct msd_span bytes, bool has_location)
{
	if (bytes.n > 0 && (uintptr_t)bytes.p % element_bytes(dtype) == 0) {
		modser_sg_tensor *t =
			msd_build_constant(b, dtype, dims, n, bytes.p, NULL);

		if (t != NULL && has_location &&
		    modser_sg_tensor_set_location(t, (uint64_t)(bytes.p - l->file.p),
						  bytes.n) != 0)
			return NULL;
		return t;
	}
	uint8_t *own = malloc(bytes.n + 1);
	if (own != NULL && bytes.n > 0)
		memcpy(own, bytes.p, bytes.n);
	return own_constant(l, b, dtype, dims, n, own);
}

/* A constant whose elements are listed; the last one is repeated. */
static modser_sg_tensor *listed(struct tf_load *l, const struct msd_build *b,
				const Tensorflow__TensorProto *p, const char *dtype,
				const int64_t *dims, size_t n, size_t elements)
{
	const size_t width = element_bytes(dtype);
	const size_t n_listed = count_listed(p, l->file);
	const bool expands = elements > MAX_REPEATED && n_listed <= 1;
	const size_t made = expands ? 1 : elements;

	if (n_listed < elements && elements > MAX_REPEATED && n_listed > 1) {
		(void)tf_load_fail(l, MSD_UNSUPPORTED,
				   "its constant has %zu elements, and lists %zu",
				   elements, n_listed);
		return NULL;
	}
	uint8_t *own = calloc(made + 1, width);
	if (own != NULL && n_listed > 0)
		write_listed(p, l->file, width, made, own);
	for (size_t i = n_listed; own != NULL && n_listed > 0 && i < made; i++)
		memcpy(own + width * i, own + width * (i - 1), width);
	modser_sg_tensor *t = own_constant(l, b, dtype, dims, expands ? 0 : n, own);
	if (!expands)
		return t;
	return msd_build_two(b, "Expand", t, msd_build_ints(b, dims, n));
}

modser_sg_tensor *tf_constant(struct tf_load *l, const struct msd_build *b,
			      const Tensorflow__TensorProto *p)
{
	const char *dtype = tf_dtype(p->dtype);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	struct msd_span bytes;
	size_t elements;
	size_t n;

	if (dtype == NULL) {
		(void)tf_load_fail(l, MSD_UNSUPPORTED,
				   "its constant has element type %d of TensorFlow",
				   p->dtype);
		return NULL;
	}
	if (!read_dims(p, dims, &n, &elements)) {
		(void)tf_load_fail(l, MSD_BAD_ARTIFACT,
				   "its constant has no shape that can be");
		return NULL;
	}
	if (!p->has_tensor_content)
		return listed(l, b, p, dtype, dims, n, elements);
	if (!msd_wire_place(&p->tensor_content, l->file, &bytes) ||
	    bytes.n != elements * element_bytes(dtype)) {
		(void)tf_load_fail(l, MSD_BAD_ARTIFACT,
				   "its constant has %zu elements of %s, and %zu bytes",
				   elements, dtype, bytes.n);
		return NULL;
	}
	return tf_stored(l, b, dtype, dims, n, bytes, true);
}

/* The numbers of a constant. */
static int64_t *read_ints(struct tf_load *l, const modser_sg_tensor *t, size_t n)
{
	const size_t width = t->dtype.bits >= 8 ? t->dtype.bits / 8u : 1;
	int64_t *ret = tf_alloc(l, n + 1, sizeof(*ret));
	const uint8_t *p = t->data;

	for (size_t i = 0; ret != NULL && i < n; i++) {
		ret[i] = width == 8   ? (int64_t)msd_le64(p + 8 * i)
			 : width == 4 ? (int32_t)msd_le32(p + 4 * i)
				      : p[i];
	}
	return ret;
}

const int64_t *tf_ints(struct tf_load *l, struct tf_value *v, size_t *ret_n)
{
	const modser_sg_tensor *t = v->t;

	*ret_n = v->n_ints;
	if (v->ints != NULL || v->kind != TF_TENSOR || !tf_is_const(t))
		return v->ints;
	const bool is_bool = strcmp(t->dtype_name, "bool") == 0;
	const bool is_int = strcmp(t->dtype_name, "int32") == 0 ||
			    strcmp(t->dtype_name, "int64") == 0;
	const size_t n = (size_t)t->bytes / (is_bool              ? 1
					     : t->dtype.bits >= 8 ? t->dtype.bits / 8u
								  : 1);
	if ((!is_int && !is_bool) || n > TF_MAX_INTS)
		return NULL;
	v->ints = read_ints(l, t, n);
	v->n_ints = v->ints != NULL ? n : 0;
	*ret_n = v->n_ints;
	return v->ints;
}

bool tf_known(const struct tf_layer *x, size_t i, int64_t *ret, size_t max,
	      size_t *ret_n)
{
	const int64_t *ints = tf_ints(x->f->l, x->in[i], ret_n);
	bool is_known = ints != NULL && *ret_n <= max;

	for (size_t k = 0; is_known && k < *ret_n; k++) {
		ret[k] = ints[k];
		is_known = ints[k] != TF_UNKNOWN;
	}
	if (!is_known) {
		(void)tf_fail(x,
			      "input %zu is not known before a call; only a "
			      "constant of at most %zu integers can be read there",
			      i, max);
	}
	return is_known;
}

bool tf_known_one(const struct tf_layer *x, size_t i, int64_t *ret)
{
	size_t n;

	if (!tf_known(x, i, ret, 1, &n))
		return false;
	if (n == 1)
		return true;
	(void)tf_fail(x, "input %zu has no number", i);
	return false;
}

void tf_values_finish(struct tf_load *l)
{
	while (l->values != NULL) {
		struct tf_value *v = l->values;

		l->values = v->next;
		free(v);
	}
	while (l->blocks != NULL) {
		struct tf_block *b = l->blocks;

		l->blocks = b->next;
		free(b);
	}
}
