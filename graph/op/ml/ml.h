#ifndef MSD_GRAPH_OP_ML_H
#define MSD_GRAPH_OP_ML_H
/* Common parts of the ai.onnx.ml operators: rows of features in, float32 out. */
#include "graph/modser_graph.h"

#define MSD_ML_FLOAT32 ((struct msd_dtype){MSD_DT_FLOAT, 32, 1})
#define MSD_ML_INT64 ((struct msd_dtype){MSD_DT_INT, 64, 1})

/* Transformation of scores. PROBIT is not supported. */
enum msd_ml_transform {
	MSD_ML_NONE,
	MSD_ML_LOGISTIC,
	MSD_ML_SOFTMAX,
	MSD_ML_SOFTMAX_ZERO, /* zeros stay zeros */
	MSD_ML_TRANSFORM_COUNT
};

/** The value of a parameter post_transform; MSD_ML_TRANSFORM_COUNT for another one. */
enum msd_ml_transform msd_ml_transform_of(const char *post_transform);
/**
 * Check that input 0 is [rows, features] and that the transform is known. 0, or -1
 * with the error.
 */
int msd_ml_check(const modser_sg_node *node, const char *post_transform);
/** Set output @k to [rows, @n] of float32. */
int msd_ml_scores(const modser_sg_node *node, size_t k, size_t n);

#endif
