#ifndef MSD_GRAPH_OP_SUPPRESSION_H
#define MSD_GRAPH_OP_SUPPRESSION_H
/* Select boxes by score and drop those that overlap a better one. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/modser_graph.h"
#include "proto/base/err.h"

struct msd_op_boxes {
	const float *boxes;  /* 4 numbers each: two corners, or a center and extents */
	const float *scores; /* image by image, class by class, one for each box */
	size_t n_images;
	size_t n_classes;
	size_t n_boxes; /* boxes of one image */
	int64_t most;   /* maximum kept for a class */
	float overlap;  /* a larger overlap drops a box */
	bool has_least;
	float least; /* lower bound of scores, if set */
	bool is_center;
};

/**
 * Write image, class and box of each selected box to @ret_places, the best of a class
 * first; NULL: only count. @scratch has room for an index for each box of an image.
 * Returns their number.
 */
size_t msd_op_suppress(const struct msd_op_boxes *b, uint64_t *scratch,
		       int64_t (*ret_places)[3]);
/**
 * Read the parameters of a NonMaxSuppression, whose inputs have been checked. Returns
 * 0, -1 or MSD_INFER_LATER: a value is not known.
 */
MSD_MUST_CHECK int msd_op_boxes_of(const modser_sg_node *node,
				   struct msd_op_boxes *ret);

#endif
