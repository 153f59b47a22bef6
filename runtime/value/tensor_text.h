#ifndef MSD_RUNTIME_VALUE_TENSOR_TEXT_H
#define MSD_RUNTIME_VALUE_TENSOR_TEXT_H
/* A tensor's type in error texts, written as signatures write it. */
#include "runtime/value/value.h"

#define MSD_TENSOR_TEXT_MAX 256

/** "Tensor([2, 16], float32)"; many extents end in "...". */
const char *msd_tensor_text(struct msd_dtype dtype, const int64_t *shape, size_t ndim,
			    char out[static MSD_TENSOR_TEXT_MAX]);
/** The same of what is in @v, or its kind when it is no tensor. */
const char *msd_tensor_text_of(const struct msd_any *v,
			       char out[static MSD_TENSOR_TEXT_MAX]);

#endif
