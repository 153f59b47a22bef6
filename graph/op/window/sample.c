/* Operators that sample between elements: GridSample and RoiAlign. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/op.h"

/* Check that text @param is in @words, which ends with NULL. */
static int check_word(const modser_sg_node *node, const char *param,
		      const char *const *words)
{
	const char *text = modser_sg_op_param(modser_sg_node_op(node), param)->as.s;

	for (size_t i = 0; words[i] != NULL; i++) {
		if (strcmp(text, words[i]) == 0)
			return 0;
	}
	return msd_infer_fail(node, "%s \"%s\" is not known", param, text);
}

static const modser_sg_op_field grid_fields[] = {
	OP_OWN_TEXT("mode", "bilinear"),
	OP_OWN_TEXT("padding_mode", "zeros"),
	OP_OWN_INT("align_corners", 0),
};
/* The last axis of the grid has a coordinate for each of two or three axes. */
static int infer_grid(modser_sg_node *node)
{
	static const char *const modes[] = {"nearest", "bilinear", "bicubic", NULL};
	static const char *const paddings[] = {"zeros", "border", "reflection", NULL};
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];

	if (check_word(node, "mode", modes) != 0 ||
	    check_word(node, "padding_mode", paddings) != 0)
		return -1;
	if (ndim != 4 && ndim != 5)
		return msd_infer_fail(node, "it has not two or three axes of places");
	if (msd_infer_rank(node, 1, ndim) != 0)
		return -1;
	const int64_t *grid = msd_infer_dims(node, 1);
	memcpy(dims, msd_infer_dims(node, 0), ndim * sizeof(*dims));
	if (grid[0] != dims[0] || grid[ndim - 1] != (int64_t)ndim - 2)
		return msd_infer_fail(node, "its grid does not fit");
	for (size_t i = 2; i < ndim; i++) {
		if (dims[i] < 1)
			return msd_infer_fail(node, "there is nothing to look at");
		dims[i] = grid[i - 1];
	}
	return msd_infer_set(node, dims, ndim);
}

const modser_sg_op_schema msd_op_grid_sample = {
	.name = "GridSample",
	OP_FIELDS(grid_fields),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer_grid,
};

static const modser_sg_op_field roi_fields[] = {
	OP_OWN_TEXT("mode", "avg"),
	OP_OWN_TEXT("coordinate_transformation_mode", "half_pixel"),
	OP_OWN_INT("output_height", 1),
	OP_OWN_INT("output_width", 1),
	OP_OWN_INT("sampling_ratio", 0),
	OP_OWN_FLOAT("spatial_scale", 1),
};
/* Inputs are images, regions of four corners each, and each region's image. */
static int infer_roi(modser_sg_node *node)
{
	static const char *const modes[] = {"avg", "max", NULL};
	static const char *const places[] = {"half_pixel", "output_half_pixel", NULL};
	const modser_sg_op *op = modser_sg_node_op(node);

	if (check_word(node, "mode", modes) != 0 ||
	    check_word(node, "coordinate_transformation_mode", places) != 0 ||
	    msd_infer_range(node, "output_height", 1, INT32_MAX) != 0 ||
	    msd_infer_range(node, "output_width", 1, INT32_MAX) != 0 ||
	    msd_infer_range(node, "sampling_ratio", 0, INT16_MAX) != 0 ||
	    msd_infer_rank(node, 0, 4) != 0 || msd_infer_rank(node, 1, 2) != 0 ||
	    msd_infer_rank(node, 2, 1) != 0 || msd_infer_indices(node, 2) != 0)
		return -1;
	const int64_t *x = msd_infer_dims(node, 0);
	const int64_t *rois = msd_infer_dims(node, 1);
	if (rois[1] != 4 || rois[0] != msd_infer_dims(node, 2)[0])
		return msd_infer_fail(node, "its regions do not fit");
	if (x[2] < 1 || x[3] < 1)
		return msd_infer_fail(node, "there is nothing to look at");
	const int64_t dims[] = {rois[0], x[1], modser_sg_op_int(op, "output_height"),
				modser_sg_op_int(op, "output_width")};
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_roi_align = {
	.name = "RoiAlign",
	OP_FIELDS(roi_fields),
	OP_IN(3, 3),
	OP_OUT(1, 1),
	.infer = infer_roi,
};
