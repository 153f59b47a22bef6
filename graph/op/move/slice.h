#ifndef MSD_GRAPH_OP_SLICE_H
#define MSD_GRAPH_OP_SLICE_H
#include "graph/modser_graph.h"
#include "proto/base/err.h"

/* The range along one axis: ONNX's form, from inputs. */
struct msd_op_range {
	int64_t begin;
	int64_t step;
	int64_t n;
};

/** One range for each axis of input 0, by inputs 1 to 4. Returns 0, -1 or
 * MSD_INFER_LATER. */
MSD_MUST_CHECK int
msd_op_slice_ranges(const modser_sg_node *node,
		    struct msd_op_range ret[static MODSER_GRAPH_MAX_NDIM]);

/** The offset of the first piece of a Slice on its axis; valid only after inference. */
int64_t msd_op_slice_begin(const modser_sg_node *node);

#endif
