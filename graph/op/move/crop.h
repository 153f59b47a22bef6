#ifndef MSD_GRAPH_OP_CROP_H
#define MSD_GRAPH_OP_CROP_H
#include "graph/modser_graph.h"

/**
 * The offset of a Crop in its input 0, on each of the four axes; its shapes are
 * inferred.
 */
void msd_op_crop_offsets(const modser_sg_node *node, int64_t ret[4]);

#endif
