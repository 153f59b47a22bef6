#ifndef MSD_SERIALIZER_BLOCKS_H
#define MSD_SERIALIZER_BLOCKS_H
/*
 * Moves of blocks between places and batches (SpaceToBatchND, BatchToSpaceND), as a
 * reshape, a transpose and a second reshape. The batch may be open.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/modser_graph.h"

#define MSD_MAX_BLOCKS 4u
#define MSD_BLOCKS_FAULT 64u

/* Blocks of the axes behind the batch, and what is padded or cut there. */
struct msd_blocks {
	size_t n;
	int64_t size[MSD_MAX_BLOCKS];
	int64_t edge[2 * MSD_MAX_BLOCKS]; /* before and after each */
	size_t n_edges;
	int64_t dims[MODSER_GRAPH_MAX_NDIM]; /* of the input; -1: open */
	size_t ndim;
};

struct msd_blocks_moves {
	int64_t parted[MODSER_GRAPH_MAX_NDIM]; /* the first reshape */
	int64_t perm[MODSER_GRAPH_MAX_NDIM];
	size_t n;                            /* of both */
	int64_t dims[MODSER_GRAPH_MAX_NDIM]; /* the second reshape: ndim extents */
	/* To batches: Pad comes first, and pads has 2 * ndim extents. */
	int64_t pads[2 * MODSER_GRAPH_MAX_NDIM];
	/* To places: Slice comes last, with a range for each block. */
	int64_t begin[MSD_MAX_BLOCKS], end[MSD_MAX_BLOCKS], axis[MSD_MAX_BLOCKS],
		step[MSD_MAX_BLOCKS];
};

/** False: @b is not possible, for the reason @why. */
bool msd_blocks_check(const struct msd_blocks *b, char why[static MSD_BLOCKS_FAULT]);
/** [B, h, w, ...] becomes [bh, bw, B, h/bh, w/bw, ...]. */
void msd_blocks_to_batch(const struct msd_blocks *b, struct msd_blocks_moves *ret);
/** The other way: [bh * bw * B, h, w, ...] becomes [B, h, bh, w, bw, ...]. */
void msd_blocks_to_space(const struct msd_blocks *b, struct msd_blocks_moves *ret);

#endif
