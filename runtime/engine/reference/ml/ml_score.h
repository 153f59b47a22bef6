#ifndef MSD_ENGINE_ML_SCORE_H
#define MSD_ENGINE_ML_SCORE_H
/* Postprocessing of the sums of classifiers and regressors of ai.onnx.ml. */
#include "graph/op/ml/ml.h"
#include "runtime/kernel/kernel.h"

/** Transform the @n @scores of a row. */
void msd_ml_transform(enum msd_ml_transform how, double *scores, size_t n);
/** Write the scores as row @row of output @k, if it is requested. */
void msd_ml_put(const struct msd_kernel_call *c, size_t k, size_t row,
		const double *scores, size_t n);
/** Write @label as element @row of output 0, if it is requested. */
void msd_ml_put_label(const struct msd_kernel_call *c, size_t row, int64_t label);
/** Index of the largest score; the first of equal ones. */
size_t msd_ml_largest(const double *scores, size_t n);

#endif
