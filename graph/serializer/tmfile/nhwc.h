#ifndef MSD_TMFILE_NHWC_H
#define MSD_TMFILE_NHWC_H
/* Files of channels-last models, as TensorFlow's converters write them. */
#include "graph/serializer/tmfile/view.h"

/**
 * Convert the graph of @v, with tensors and parameters as in such a file, to channels
 * first, as in Tengine. @turns_axes: axes of Softmax are the file's, too; else
 * writers have already converted them. -1 with the graph's error.
 */
MSD_MUST_CHECK int tm_nhwc_turn(struct tm_view *v, bool turns_axes);

#endif
