#ifndef MSD_CAFFE_LAYER_H
#define MSD_CAFFE_LAYER_H
/* One layer of a network while it is read: its message, its inputs, its weights. */
#include <caffe.pb-c.h>

#include "graph/modser_graph.h"
#include "graph/serializer/build/build.h"
#include "proto/base/bytes.h"

struct caffe_layer {
	struct msd_build b;
	const Caffe__LayerParameter *p;
	modser_sg_tensor **in;          /* p->n_bottom, all with a known rank */
	modser_sg_tensor **out;         /* p->n_top, set by the row's function */
	Caffe__BlobProto *const *blobs; /* from the file of weights */
	size_t n_blobs;
	struct msd_span file; /* with the bytes of the weights */
};

/* How a type of layers is read. */
struct caffe_row {
	const char *type;
	unsigned min_in, max_in, max_out;
	/* Returns the only output, or NULL with the error of the graph. */
	modser_sg_tensor *(*one)(const struct caffe_layer *x);
	/* Sets all outputs, instead. */
	int (*many)(const struct caffe_layer *x);
};
#define CAFFE_MANY 0xffffu

/* Tables of rows, each ended by a row without a type. */
extern const struct caffe_row caffe_rows_element[];
extern const struct caffe_row caffe_rows_window[];
extern const struct caffe_row caffe_rows_move[];
extern const struct caffe_row caffe_rows_detect[];
/** The row of @type; NULL if there is none. */
const struct caffe_row *caffe_row_find(const char *type);
/** Row @i of all; NULL if there are fewer. */
const struct caffe_row *caffe_row_at(size_t i);

/** Record why the layer cannot be read. Returns NULL. */
modser_sg_tensor *caffe_fail(const struct caffe_layer *x, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** Extents of input @i. */
const int64_t *caffe_dims(const struct caffe_layer *x, size_t i);
size_t caffe_ndim(const struct caffe_layer *x, size_t i);
/**
 * Axis @axis of input 0, where a negative one counts from the end; @more may be the
 * number of axes, too. False with the error of the graph.
 */
MSD_MUST_CHECK bool caffe_axis(const struct caffe_layer *x, int64_t axis, bool more,
			       size_t *ret);
/**
 * Weights @i as a constant of these extents, in place if they are aligned. The shape in
 * the file may have other leading extents of 1.
 */
modser_sg_tensor *caffe_weights(const struct caffe_layer *x, size_t i,
				const int64_t *dims, size_t n);
/** Weights @i with the extents of the file. */
modser_sg_tensor *caffe_weights_as_they_are(const struct caffe_layer *x, size_t i);
/** Copy weights @i, @n numbers of any shape. The caller frees them. */
float *caffe_numbers(const struct caffe_layer *x, size_t i, size_t n);

#endif
