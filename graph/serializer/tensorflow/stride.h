#ifndef MSD_TENSORFLOW_STRIDE_H
#define MSD_TENSORFLOW_STRIDE_H
/* One index of a strided slice, after its masks. */
#include "graph/serializer/tensorflow/layer.h"

struct tf_stride {
	int64_t begin, end, step; /* INT64_MAX and INT64_MIN: the ends of the axis */
	bool is_one;              /* it selects one place, and its axis goes */
};

/** Apply the masks of index @i to its begin, end and step. */
struct tf_stride tf_stride_of(const struct tf_layer *x, size_t i, int64_t begin,
			      int64_t end, int64_t step);

#endif
