#ifndef MSD_GRAPH_OP_SUPPRESSION_H
#define MSD_GRAPH_OP_SUPPRESSION_H
/* Which boxes are left of those that overlap. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/modser_graph.h"
#include "proto/err.h"

struct msd_op_boxes {
	const float *boxes;  /* 4 numbers each: two corners, or a center and extents */
	const float *scores; /* image by image, class by class, one for each box */
	size_t n_images;
	size_t n_classes;
	size_t n_boxes; /* of an image */
	int64_t most;   /* that are left of a class */
	float overlap;  /* more of it than this is too much */
	bool has_least;
	float least; /* scores are above it, if there is one */
	bool is_center;
};

/** Write image, class and box of each that is left to @ret_places, the best of a class
 * first; NULL: count alone. @scratch has room for an index for each box of an image.
 * Returns how many there are. */
size_t msd_op_suppress(const struct msd_op_boxes *b, size_t *scratch,
		       int64_t (*ret_places)[3]);
/** What a NonMaxSuppression, whose inputs have been checked, is asked for. Returns 0,
 * -1 or MSD_INFER_LATER: a value is not known. */
MSD_MUST_CHECK int msd_op_boxes_of(const modser_sg_node *node,
				   struct msd_op_boxes *ret);

#endif
