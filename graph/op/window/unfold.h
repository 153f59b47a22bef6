#ifndef MSD_GRAPH_OP_UNFOLD_H
#define MSD_GRAPH_OP_UNFOLD_H
/* Operators that put the elements of windows back in place: MaxUnpool, Col2Im. */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

/** The extents that a MaxUnpool's indices refer to. */
MSD_MUST_CHECK int msd_op_unpool_dims(const modser_sg_node *node,
				      int64_t ret[static MODSER_GRAPH_MAX_NDIM]);

/* One axis of a Col2Im's image, and of the windows on it. */
struct msd_op_fold {
	int64_t image;
	int64_t block;
	int64_t stride;
	int64_t dilation;
	int64_t before; /* padding */
	int64_t places; /* number of windows */
};
/** The @ret_n axes of a Col2Im. Returns 0, -1 or MSD_INFER_LATER. */
MSD_MUST_CHECK int msd_op_folds(const modser_sg_node *node,
				struct msd_op_fold ret[static MODSER_GRAPH_MAX_NDIM],
				size_t *ret_n);

#endif
