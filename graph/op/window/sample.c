/* Operators that sample between elements: GridSample and RoiAlign. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/window/params.h"

/* Check that @text of @param is in @words, which ends with NULL. */
static int check_word(const modser_sg_node *node, const char *param, const char *text,
		      const char *const *words)
{
	for (size_t i = 0; words[i] != NULL; i++) {
		if (strcmp(text, words[i]) == 0)
			return 0;
	}
	return msd_infer_fail(node, "%s \"%s\" is not known", param, text);
}

/* The last axis of the grid has a coordinate for each of two or three axes. */
static int infer_grid(modser_sg_node *node)
{
	static const char *const modes[] = {"nearest", "bilinear", "bicubic", NULL};
	static const char *const paddings[] = {"zeros", "border", "reflection", NULL};
	const struct msd_params_grid_sample p = msd_params_grid_sample(node);
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];

	if (check_word(node, "mode", p.mode, modes) != 0 ||
	    check_word(node, "padding_mode", p.padding_mode, paddings) != 0)
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
	OP_PARAMS(MSD_PARAMS_GRID_SAMPLE),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer_grid,
};

/* Inputs are images, regions of four corners each, and each region's image. */
static int infer_roi(modser_sg_node *node)
{
	const struct msd_params_roi_align p = msd_params_roi_align(node);
	static const char *const modes[] = {"avg", "max", NULL};
	static const char *const places[] = {"half_pixel", "output_half_pixel", NULL};

	if (check_word(node, "mode", p.mode, modes) != 0 ||
	    check_word(node, "coordinate_transformation_mode",
		       p.coordinate_transformation_mode, places) != 0 ||
	    MSD_PARAM_RANGE(node, roi_align, output_height, 1, INT32_MAX) != 0 ||
	    MSD_PARAM_RANGE(node, roi_align, output_width, 1, INT32_MAX) != 0 ||
	    MSD_PARAM_RANGE(node, roi_align, sampling_ratio, 0, INT16_MAX) != 0 ||
	    msd_infer_rank(node, 0, 4) != 0 || msd_infer_rank(node, 1, 2) != 0 ||
	    msd_infer_rank(node, 2, 1) != 0 || msd_infer_indices(node, 2) != 0)
		return -1;
	const int64_t *x = msd_infer_dims(node, 0);
	const int64_t *rois = msd_infer_dims(node, 1);
	if (rois[1] != 4 || rois[0] != msd_infer_dims(node, 2)[0])
		return msd_infer_fail(node, "its regions do not fit");
	if (x[2] < 1 || x[3] < 1)
		return msd_infer_fail(node, "there is nothing to look at");
	const int64_t dims[] = {rois[0], x[1], p.output_height, p.output_width};
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_roi_align = {
	.name = "RoiAlign",
	OP_PARAMS(MSD_PARAMS_ROI_ALIGN),
	OP_IN(3, 3),
	OP_OUT(1, 1),
	.infer = infer_roi,
};
