#ifndef MSD_GRAPH_OP_FOURIER_H
#define MSD_GRAPH_OP_FOURIER_H
/* The axis of a DFT and the frames of an STFT, which inputs may give. */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

/** The axis along which input 0 is transformed. Returns 0, -1 or MSD_INFER_LATER. */
MSD_MUST_CHECK int msd_op_dft_axis(const modser_sg_node *node, size_t *ret);
/** The frame step and the frame length. Returns 0, -1 or MSD_INFER_LATER. */
MSD_MUST_CHECK int msd_op_frames(const modser_sg_node *node, int64_t *ret_step,
				 int64_t *ret_length);

#endif
