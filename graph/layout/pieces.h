#ifndef MSD_GRAPH_LAYOUT_PIECES_H
#define MSD_GRAPH_LAYOUT_PIECES_H
/*
 * The nodes that only copy bytes between one tensor and consecutive pieces of it:
 * Concat joins them; Split, Slice and a Gather of one index take them out; a Reshape is
 * one piece as large as the whole. If all these tensors lie in one place, the node has
 * nothing to do.
 */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

struct msd_pieces {
	modser_sg_tensor *whole;
	modser_sg_tensor *const *list;
	size_t n;
	size_t begin; /* offset of the first piece in the whole, in bytes */
};

/**
 * True if @node only copies such bytes; its shapes are known. A piece may be empty, the
 * whole is not. Outputs that do not depend on the input are no pieces.
 */
MSD_MUST_CHECK bool msd_pieces_of(const modser_sg_node *node, struct msd_pieces *ret);
/** The bytes of @t, whose shape is known. */
size_t msd_pieces_bytes(const modser_sg_tensor *t);

#endif
