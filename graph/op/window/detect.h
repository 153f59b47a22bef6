#ifndef MSD_GRAPH_OP_DETECT_H
#define MSD_GRAPH_OP_DETECT_H
/* DetectionOutput of SSD: boxes from priors and offsets, the best of each class. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/modser_graph.h"
#include "proto/base/err.h"

#define MSD_DETECT_COLUMNS 7u /* image, class, score, two corners */

enum msd_box_code { MSD_BOX_CORNER = 1, MSD_BOX_CENTER = 2, MSD_BOX_CORNER_SIZE = 3 };

struct msd_op_detect {
	const float *offsets; /* image by image: prior, class or all, four numbers */
	const float *scores;  /* image by image: prior, class */
	const float *priors;  /* four corners each, then four variances each */
	size_t n_images;
	size_t n_priors;
	size_t n_classes;
	bool shares_boxes;
	int64_t background; /* a class that is left out */
	enum msd_box_code code;
	bool has_variance; /* it is in the offsets already */
	float least;       /* a score is larger */
	float overlap;     /* a larger overlap drops a box */
	float eta;
	int64_t most_of_class; /* -1: no limit */
	int64_t most_of_image;
};

/**
 * Read a DetectionOutput, whose inputs have been checked. Returns 0, -1 or
 * MSD_INFER_LATER: a value is not known.
 */
MSD_MUST_CHECK int msd_op_detect_of(const modser_sg_node *node,
				    struct msd_op_detect *ret);
/**
 * Write the detections to @ret_rows, class by class, the best of a class first; NULL:
 * only count. Without any, each image has one row of -1, as in Caffe. False: memory is
 * short.
 */
MSD_MUST_CHECK bool msd_op_detect_run(const struct msd_op_detect *d,
				      float (*ret_rows)[MSD_DETECT_COLUMNS],
				      size_t *ret_n);

#endif
