#ifndef MSD_MXNET_PARAMS_H
#define MSD_MXNET_PARAMS_H
/* MXNet's file of parameters: arrays, then their names. Arrays stay in the file. */
#include "graph/modser_graph.h"
#include "graph/serializer/names.h"
#include "proto/base/bytes.h"

struct mxnet_param {
	char *name; /* without "arg:" and "aux:" */
	const char *dtype;
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t ndim;
	struct msd_span data; /* as many bytes as dtype and dims have */
	modser_sg_tensor *t;  /* the constant, once it is made */
};

struct mxnet_params {
	struct mxnet_param *items;
	size_t n;
	struct msd_names names;
};

/** True if these first bytes look like such a file. */
bool mxnet_params_probe(const void *head, size_t bytes);
/** List the arrays of @file. -1 with the error of @g. Finish @ret in any case. */
MSD_MUST_CHECK int mxnet_params_read(modser_graph *g, struct msd_span file,
				     struct mxnet_params *ret);
void mxnet_params_finish(struct mxnet_params *p);
/** The name of element type @flag of MXNet; NULL: none that can be read. */
const char *mxnet_dtype(int32_t flag);

#endif
