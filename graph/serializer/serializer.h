#ifndef MSD_GRAPH_SERIALIZER_SERIALIZER_H
#define MSD_GRAPH_SERIALIZER_SERIALIZER_H
/* Internals of a serializer, and the built-in serializers: one row for each format. */
#include <pthread.h>
#include <stdatomic.h>

#include "graph/modser_graph.h"
#include "proto/base/bytes.h"

/* Methods by operator; rows are only added, under the serializer's lock. */
struct msd_op_methods {
	struct msd_op_method {
		char *op;
		modser_sg_op_method *method;
	} * rows;
	size_t n;
};

struct modser_serializer {
	const modser_serializer_ops *ops;
	atomic_uint refs;
	pthread_mutex_t *lock; /* protects the methods; separate, because readers have a
				  const serializer */
	struct msd_op_methods loads;
	struct msd_op_methods stores;
};

/** Add a reference; each holder calls modser_serializer_unref(). Returns @s. */
modser_serializer *msd_serializer_ref(modser_serializer *s);
/** The method of @op among @m of @s; NULL: none. */
modser_sg_op_method *msd_serializer_find_method(const modser_serializer *s,
						const struct msd_op_methods *m,
						const char *op);
/** Add a method to @m of @s. -1: @op has one, or memory is short. */
MSD_MUST_CHECK int msd_serializer_add_method(modser_serializer *s,
					     struct msd_op_methods *m, const char *op,
					     modser_sg_op_method *method);
/** The method that was registered to load @op; NULL: none. */
modser_sg_op_method *msd_serializer_method(const modser_serializer *s, const char *op);
/** Open @path for reading; -1 with the error of @g. */
MSD_MUST_CHECK int msd_serializer_open(modser_graph *g, const char *path);
/** Read the bytes of @t at its location in @fd. -1 with the error of its graph. */
MSD_MUST_CHECK int msd_const_read(int fd, modser_sg_tensor *t);
/** Read all constants of @g that have only a location, from its file of constants. */
MSD_MUST_CHECK int msd_const_read_all(modser_graph *g);
/** Read all of @fd, or of the file @path, into *@ret. -1 with the error of @g. */
MSD_MUST_CHECK int msd_serializer_read(modser_graph *g, const char *path,
				       struct msd_buf *ret);
MSD_MUST_CHECK int msd_serializer_read_fd(modser_graph *g, int fd, const char *name,
					  struct msd_buf *ret);

extern const modser_serializer_ops msd_tmfile_serializer;
extern const modser_serializer_ops msd_onnx_serializer;
extern const modser_serializer_ops msd_caffe_serializer;
extern const modser_serializer_ops msd_caffe_single_serializer;
extern const modser_serializer_ops msd_mxnet_serializer;
extern const modser_serializer_ops msd_tflite_serializer;
extern const modser_serializer_ops msd_tensorflow_serializer;

#endif
