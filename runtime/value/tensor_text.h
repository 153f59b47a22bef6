#ifndef MSD_RUNTIME_VALUE_TENSOR_TEXT_H
#define MSD_RUNTIME_VALUE_TENSOR_TEXT_H
/* A tensor's type for error texts, in the format of signatures. */
#include "runtime/value/value.h"

#define MSD_TENSOR_TEXT_MAX 256

/** "Tensor([2, 16], float32)"; a long shape ends in "...". */
const char *msd_tensor_text(struct msd_dtype dtype, const int64_t *shape, size_t ndim,
			    char out[static MSD_TENSOR_TEXT_MAX]);
/** The same for the value in @v, or its kind if it is not a tensor. */
const char *msd_tensor_text_of(const struct msd_any *v,
			       char out[static MSD_TENSOR_TEXT_MAX]);

#endif
