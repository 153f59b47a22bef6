#include "graph/op/ml/ml.h"

#include <string.h>

#include "graph/ir/infer.h"

enum msd_ml_transform msd_ml_transform_of(const char *post_transform)
{
	static const char *const words[] = {[MSD_ML_NONE] = "NONE",
					    [MSD_ML_LOGISTIC] = "LOGISTIC",
					    [MSD_ML_SOFTMAX] = "SOFTMAX",
					    [MSD_ML_SOFTMAX_ZERO] = "SOFTMAX_ZERO"};
	unsigned i = 0;

	while (i < MSD_ML_TRANSFORM_COUNT && strcmp(words[i], post_transform) != 0)
		i++;
	return (enum msd_ml_transform)i;
}

int msd_ml_check(const modser_sg_node *node, const char *post_transform)
{
	if (msd_infer_rank(node, 0, 2) != 0)
		return -1;
	if (msd_ml_transform_of(post_transform) == MSD_ML_TRANSFORM_COUNT) {
		return msd_infer_fail(
			node,
			"its post_transform is \"%s\"; known are NONE, LOGISTIC, "
			"SOFTMAX and SOFTMAX_ZERO",
			post_transform);
	}
	return 0;
}

int msd_ml_scores(const modser_sg_node *node, size_t k, size_t n)
{
	const int64_t dims[] = {msd_infer_dims(node, 0)[0], (int64_t)n};

	msd_infer_dtype(node, k, MSD_ML_FLOAT32);
	return msd_infer_set_output(node, k, dims, 2);
}
