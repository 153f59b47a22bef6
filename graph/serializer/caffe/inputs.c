/* Blobs, and the inputs of a network: at its top, or layers that hold data. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/caffe/load.h"

int caffe_load_fail(const struct caffe_load *l, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return msd_sg_fail(l->g, MSD_BAD_ARTIFACT, "%s", text);
}

struct caffe_blob *caffe_blob_find(struct caffe_load *l, const char *name)
{
	return msd_names_find(&l->blob_names, name);
}

int caffe_blob_add(struct caffe_load *l, const char *name, struct caffe_blob **ret)
{
	*ret = caffe_blob_find(l, name);
	if (*ret != NULL)
		return 0;
	*ret = &l->blobs[l->n_blobs++];
	(*ret)->name = name;
	return msd_names_add(&l->blob_names, name, *ret) ? 0 : msd_sg_no_memory(l->g);
}

static int add_input(struct caffe_load *l, const char *name, const int64_t *dims,
		     size_t n)
{
	struct caffe_blob *blob;

	if (n > MODSER_GRAPH_MAX_NDIM) {
		return caffe_load_fail(
			l, "input \"%.128s\" has more than 32 dimensions", name);
	}
	for (size_t i = 0; i < n; i++) {
		if (dims[i] < 1 || dims[i] > INT32_MAX) {
			return caffe_load_fail(
				l, "input \"%.128s\": extent %zu cannot be", name, i);
		}
	}
	if (caffe_blob_add(l, name, &blob) != 0)
		return -1;
	if (blob->now != NULL) {
		return caffe_load_fail(
			l, "blob \"%.128s\" is an input, and written before", name);
	}
	blob->now = modser_graph_create_input(l->g, name, "float32", dims, n);
	blob->is_input = true;
	return blob->now != NULL ? 0 : -1;
}

/* Inputs at the top of the network: shapes, or four extents each. */
int caffe_read_inputs(struct caffe_load *l)
{
	const Caffe__NetParameter *p = l->net;

	for (size_t i = 0; i < p->n_input; i++) {
		int64_t dims[4];

		if (p->n_input_shape > 0) {
			const Caffe__BlobShape *shape =
				p->input_shape[i < p->n_input_shape ? i : 0];

			if (p->n_input_shape != 1 && p->n_input_shape != p->n_input) {
				return caffe_load_fail(l,
						       "%zu input_shape for %zu inputs",
						       p->n_input_shape, p->n_input);
			}
			if (add_input(l, p->input[i], shape->dim, shape->n_dim) != 0)
				return -1;
			continue;
		}
		if (p->n_input_dim != 4 * p->n_input) {
			return caffe_load_fail(
				l,
				"input \"%.128s\": %zu input_dim for %zu inputs, "
				"expected four for each, or input_shape",
				p->input[i], p->n_input_dim, p->n_input);
		}
		for (size_t k = 0; k < 4; k++)
			dims[k] = p->input_dim[4 * i + k];
		if (add_input(l, p->input[i], dims, 4) != 0)
			return -1;
	}
	return 0;
}

/* Layers that are inputs: one shape for all of their tops, or one for each. */
static int read_input_shapes(struct caffe_load *l, const Caffe__LayerParameter *p,
			     Caffe__BlobShape *const *shapes, size_t n)
{
	for (size_t i = 0; i < p->n_top; i++) {
		if (n != 1 && n != p->n_top) {
			return caffe_load_fail(l, "%zu shapes for %zu inputs", n,
					       p->n_top);
		}
		if (add_input(l, p->top[i], shapes[n > 1 ? i : 0]->dim,
			      shapes[n > 1 ? i : 0]->n_dim) != 0)
			return -1;
	}
	return 0;
}

static int read_dummy(struct caffe_load *l, const Caffe__LayerParameter *p)
{
	const Caffe__DummyDataParameter *d = p->dummy_data_param;

	if (d == NULL)
		return caffe_load_fail(l, "it has no shape");
	if (d->n_shape > 0)
		return read_input_shapes(l, p, d->shape, d->n_shape);
	for (size_t i = 0; i < p->n_top; i++) {
		const size_t k = d->n_num > 1 ? i : 0;

		if (k >= d->n_num || k >= d->n_channels || k >= d->n_height ||
		    k >= d->n_width) {
			return caffe_load_fail(l,
					       "it has not four extents for each top");
		}
		const int64_t dims[] = {d->num[k], d->channels[k], d->height[k],
					d->width[k]};
		if (add_input(l, p->top[i], dims, 4) != 0)
			return -1;
	}
	return 0;
}

/* The second top, with labels, is for training. */
static int read_memory(struct caffe_load *l, const Caffe__LayerParameter *p)
{
	const Caffe__MemoryDataParameter *d = p->memory_data_param;

	if (d == NULL || p->n_top < 1)
		return caffe_load_fail(l, "it has no shape");
	const int64_t dims[] = {d->batch_size, d->channels, d->height, d->width};
	return add_input(l, p->top[0], dims, 4);
}

/* Layers that make no nodes. *@ret: the layer is one of them. */
int caffe_read_special(struct caffe_load *l, const Caffe__LayerParameter *p, bool *ret)
{
	static const char *const data[] = {"Data", "ImageData", "HDF5Data",
					   "WindowData"};
	static const char *const trains[] = {"Accuracy", "Loss", "HDF5Output"};

	*ret = true;
	if (strcmp(p->type, "Input") == 0) {
		if (p->input_param == NULL) {
			return caffe_load_fail(
				l, "it has no input_param { shape { ... } }");
		}
		return read_input_shapes(l, p, p->input_param->shape,
					 p->input_param->n_shape);
	}
	if (strcmp(p->type, "DummyData") == 0)
		return read_dummy(l, p);
	if (strcmp(p->type, "MemoryData") == 0)
		return read_memory(l, p);
	if (strcmp(p->type, "Silence") == 0) {
		for (size_t i = 0; i < p->n_bottom; i++) {
			struct caffe_blob *blob = caffe_blob_find(l, p->bottom[i]);

			if (blob != NULL)
				blob->is_silent = true;
		}
		return 0;
	}
	for (size_t i = 0; i < sizeof(data) / sizeof(data[0]); i++) {
		if (strcmp(p->type, data[i]) == 0) {
			return caffe_load_fail(
				l, "it reads files; take the network for deployment, "
				   "or say input_param { shape { dim: ... } } in a "
				   "layer of type Input");
		}
	}
	for (size_t i = 0; i < sizeof(trains) / sizeof(trains[0]); i++) {
		if (strstr(p->type, trains[i]) != NULL) {
			return caffe_load_fail(
				l, "it is for training; take the network for "
				   "deployment, or leave it out");
		}
	}
	*ret = false;
	return 0;
}
