/* Weights: their shape as new files and old ones have it, and their bytes, which are
 * floats or doubles in the file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/caffe/layer.h"
#include "graph/serializer/wire/wire.h"

struct shape {
	const int64_t *dims;
	size_t n;
	int64_t old[4];
};

static void shape_of(const Caffe__BlobProto *p, struct shape *ret)
{
	*ret = (struct shape){.old = {p->num, p->channels, p->height, p->width}};
	ret->dims = p->shape != NULL ? p->shape->dim : ret->old;
	ret->n = p->shape != NULL ? p->shape->n_dim : 4;
	while (ret->n > 0 && ret->dims[0] == 1) {
		ret->dims++;
		ret->n--;
	}
}

static void put_dims(struct msd_buf *out, const int64_t *dims, size_t n)
{
	for (size_t i = 0; i < n && i < MODSER_GRAPH_MAX_NDIM; i++)
		msd_buf_printf(out, "%s%" PRId64, i > 0 ? ", " : "[", dims[i]);
	msd_buf_printf(out, "%s", n > 0 ? "]" : "[]");
}

static modser_sg_tensor *refuse(const struct caffe_layer *x, size_t i,
				const struct shape *has, const int64_t *dims, size_t n)
{
	struct msd_buf text = {0};

	put_dims(&text, has->dims, has->n);
	msd_buf_printf(&text, ", expected ");
	put_dims(&text, dims, n);
	(void)caffe_fail(x, "weights %zu are %.*s: they are of another network", i,
			 (int)text.n, text.n > 0 ? (char *)text.p : "");
	msd_buf_finish(&text);
	return NULL;
}

/* All bytes of @list, which has @element bytes a number; NULL with the error. @list
 * with one piece needs no copy: then *@ret_copy is NULL. */
static const uint8_t *join(const struct caffe_layer *x, const ProtobufCBinaryData *list,
			   size_t n, size_t bytes, uint8_t **ret_copy)
{
	struct msd_buf all = {0};
	struct msd_span piece = {0};

	*ret_copy = NULL;
	for (size_t i = 0; i < n; i++) {
		if (!msd_wire_place(&list[i], x->file, &piece)) {
			(void)caffe_fail(x, "its weights are not in the file");
			goto fail;
		}
		if (n > 1)
			msd_buf_put(&all, piece.p, piece.n);
	}
	if (all.bad) {
		(void)msd_sg_no_memory(x->b.g);
		goto fail;
	}
	if ((n > 1 ? all.n : piece.n) != bytes) {
		(void)caffe_fail(x, "its weights have %zu bytes, and their shape %zu",
				 n > 1 ? all.n : piece.n, bytes);
		goto fail;
	}
	*ret_copy = all.p;
	return n > 1 ? all.p : piece.p;
fail:
	msd_buf_finish(&all);
	return NULL;
}

static float *from_doubles(const struct caffe_layer *x, const Caffe__BlobProto *p,
			   size_t n)
{
	uint8_t *copy;
	const uint8_t *from = join(x, p->double_data, p->n_double_data, 8 * n, &copy);
	float *ret = from != NULL ? malloc((n + 1) * sizeof(*ret)) : NULL;

	if (from != NULL && ret == NULL)
		(void)msd_sg_no_memory(x->b.g);
	for (size_t i = 0; ret != NULL && i < n; i++) {
		double v;

		memcpy(&v, from + 8 * i, sizeof(v));
		ret[i] = (float)v;
	}
	free(copy);
	return ret;
}

static const Caffe__BlobProto *find(const struct caffe_layer *x, size_t i)
{
	if (i >= x->n_blobs) {
		(void)caffe_fail(x,
				 "the file of weights has %zu weights for it, expected "
				 "%zu or more",
				 x->n_blobs, i + 1);
		return NULL;
	}
	return x->blobs[i];
}

float *caffe_numbers(const struct caffe_layer *x, size_t i, size_t n)
{
	const Caffe__BlobProto *p = find(x, i);
	uint8_t *copy;

	if (p == NULL || n > SIZE_MAX / 16)
		return NULL;
	if (p->n_double_data > 0)
		return from_doubles(x, p, n);
	const uint8_t *from = join(x, p->data, p->n_data, 4 * n, &copy);
	float *ret = from != NULL ? malloc((n + 1) * sizeof(*ret)) : NULL;
	if (from != NULL && ret == NULL)
		(void)msd_sg_no_memory(x->b.g);
	if (ret != NULL && n > 0)
		memcpy(ret, from, n * sizeof(*ret));
	free(copy);
	return ret;
}

/* A copy of the weights, which the graph frees. */
static modser_sg_tensor *copied(const struct caffe_layer *x, size_t i, size_t count,
				const int64_t *dims, size_t n)
{
	float *own = caffe_numbers(x, i, count);
	modser_sg_tensor *t =
		own != NULL ? msd_build_constant(&x->b, "float32", dims, n, own, free)
			    : NULL;

	if (t == NULL)
		free(own);
	return t;
}

modser_sg_tensor *caffe_weights(const struct caffe_layer *x, size_t i,
				const int64_t *dims, size_t n)
{
	const Caffe__BlobProto *p = find(x, i);
	const int64_t *wanted = dims;
	size_t n_wanted = n;
	struct shape has;
	size_t count = 1;
	struct msd_span bytes;

	if (p == NULL)
		return NULL;
	shape_of(p, &has);
	while (n_wanted > 0 && wanted[0] == 1) {
		wanted++;
		n_wanted--;
	}
	if (has.n != n_wanted ||
	    (n_wanted > 0 && memcmp(has.dims, wanted, n_wanted * sizeof(*wanted)) != 0))
		return refuse(x, i, &has, dims, n);
	for (size_t k = 0; k < n; k++) {
		if (dims[k] < 0 || !msd_mul_size(count, (size_t)dims[k], &count))
			return refuse(x, i, &has, dims, n);
	}
	const bool is_one = p->n_double_data == 0 && p->n_data == 1 &&
			    msd_wire_place(&p->data[0], x->file, &bytes) &&
			    bytes.n % sizeof(float) == 0 &&
			    bytes.n / sizeof(float) == count;
	modser_sg_tensor *t =
		is_one && (uintptr_t)bytes.p % sizeof(float) == 0
			? msd_build_constant(&x->b, "float32", dims, n, bytes.p, NULL)
			: copied(x, i, count, dims, n);
	if (t == NULL || !is_one)
		return t;
	const uint64_t at = (uint64_t)(bytes.p - x->file.p);
	return modser_sg_tensor_set_location(t, at, bytes.n) == 0 ? t : NULL;
}

modser_sg_tensor *caffe_weights_as_they_are(const struct caffe_layer *x, size_t i)
{
	const Caffe__BlobProto *p = find(x, i);
	const int64_t old[] = {p != NULL ? p->num : 0, p != NULL ? p->channels : 0,
			       p != NULL ? p->height : 0, p != NULL ? p->width : 0};

	if (p == NULL)
		return NULL;
	if (p->shape == NULL)
		return caffe_weights(x, i, old, 4);
	if (p->shape->n_dim > MODSER_GRAPH_MAX_NDIM)
		return caffe_fail(x, "weights %zu have more than 32 dimensions", i);
	return caffe_weights(x, i, p->shape->dim, p->shape->n_dim);
}
