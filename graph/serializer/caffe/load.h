#ifndef MSD_CAFFE_LOAD_H
#define MSD_CAFFE_LOAD_H
/* State of reading a network, and its inputs. */
#include <caffe.pb-c.h>

#include "graph/modser_graph.h"
#include "graph/serializer/names.h"
#include "proto/base/bytes.h"

/* A blob by its name. */
struct caffe_blob {
	const char *name;
	modser_sg_tensor *now; /* NULL: not written yet */
	size_t writes_left;
	size_t last; /* number of the write that made `now` */
	bool is_input;
	bool is_silent; /* a Silence layer reads it */
};

/* The weights of a layer by its name. */
struct caffe_trained {
	Caffe__BlobProto *const *blobs;
	size_t n;
};

struct caffe_load {
	modser_graph *g;
	const modser_serializer *serializer;
	Caffe__NetParameter *net;      /* with the layers */
	Caffe__NetParameter *trained;  /* with the weights; may be the same */
	struct msd_span file;          /* of the weights */
	Caffe__LayerParameter *layers; /* new and old, without those of training */
	size_t n_layers;
	struct msd_names blob_names;
	struct caffe_blob *blobs; /* no more than inputs and tops */
	size_t n_blobs;
	struct msd_names trained_names;
	struct caffe_trained *trained_layers;
	size_t n_trained;
	size_t n_writes;
};

/** Record why the network cannot be read. Returns -1. */
int caffe_load_fail(const struct caffe_load *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** The blob called @name; NULL if there is none. */
struct caffe_blob *caffe_blob_find(struct caffe_load *l, const char *name);
/** Set *@ret to the blob called @name, and make it if there is none. */
MSD_MUST_CHECK int caffe_blob_add(struct caffe_load *l, const char *name,
				  struct caffe_blob **ret);
/** Inputs at the top of the network: shapes, or four extents each. */
MSD_MUST_CHECK int caffe_read_inputs(struct caffe_load *l);
/** Read a layer that makes no nodes. *@ret: @p is one. */
MSD_MUST_CHECK int caffe_read_special(struct caffe_load *l,
				      const Caffe__LayerParameter *p, bool *ret);

#endif
